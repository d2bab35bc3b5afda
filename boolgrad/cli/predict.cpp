// `boolgrad predict`: classes or values of samples without labels, and outputs of circuits.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/predict.h"
#include "boolgrad/cli/samples.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/prediction.h"
#include "boolgrad/model/unlabelled_samples.h"

namespace boolgrad::cli {
namespace {

/// What the hardened classifier says of every sample.
struct Answers {
  std::vector<double> predictions;  ///< classes or values
  Tensor probabilities = {};        ///< float64 [classes, samples]; undefined for values

  double probability(std::size_t c, std::size_t sample) const {
    return probabilities.at(static_cast<std::int64_t>(c * predictions.size() + sample));
  }
};

Answers answers_of(const CircuitSource& source, const UnlabelledSamples& samples) {
  const Classifier& classifier = *source.model->model.classifier();
  const HardClassifier hard(classifier, source.netlist);
  const Tensor sums = hard.sums(samples.features);
  const std::int64_t outputs = source.model->model.network().outputs();
  Answers answers{logic::predictions(classifier.head, sums, outputs)};
  if (classifier.head.kind != HeadKind::regression) {
    answers.probabilities = logic::probabilities(classifier.head, sums, outputs);
  }
  return answers;
}

/// The classes of a sample: its prediction first, then those of falling probability.
std::vector<std::size_t> ranked(const Answers& answers, std::size_t sample) {
  std::vector<std::size_t> order(static_cast<std::size_t>(answers.probabilities.shape()[0]));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto predicted = static_cast<std::size_t>(answers.predictions[sample]);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (a == predicted || b == predicted) return a == predicted && b != predicted;
    return answers.probability(a, sample) > answers.probability(b, sample);
  });
  return order;
}

std::string header_of(const PredictArguments& arguments, const UnlabelledSamples& samples,
                      const data::DataFormat& format) {
  std::string text = samples.what;
  if (format.classes.empty()) return text + ",prediction\n";
  for (std::int64_t i = 1; i <= arguments.top; ++i) {
    text += i == 1 ? ",prediction,probability" : fmt::format(",prediction_{},probability_{}", i, i);
  }
  if (arguments.scores) {
    for (const std::string& name : format.classes) text += "," + csv_field(name);
  }
  return text + "\n";
}

std::string line_of(const PredictArguments& arguments, const UnlabelledSamples& samples,
                    const data::DataFormat& format, const Answers& answers, std::size_t i) {
  std::string text = csv_field(samples.names[i]);
  if (format.classes.empty()) return text + fmt::format(",{:.9g}\n", answers.predictions[i]);
  const std::vector<std::size_t> order = ranked(answers, i);
  for (std::size_t k = 0; k < static_cast<std::size_t>(arguments.top); ++k) {
    text += fmt::format(",{},{:.4f}", csv_field(format.classes[order[k]]),
                        answers.probability(order[k], i));
  }
  if (arguments.scores) {
    for (std::size_t c = 0; c < order.size(); ++c) {
      text += fmt::format(",{:.4f}", answers.probability(c, i));
    }
  }
  return text + "\n";
}

std::string table_of(const PredictArguments& arguments, const UnlabelledSamples& samples,
                     const data::DataFormat& format, const Answers& answers) {
  std::string text = header_of(arguments, samples, format);
  for (std::size_t i = 0; i < samples.names.size(); ++i) {
    text += line_of(arguments, samples, format, answers, i);
  }
  return text;
}

nlohmann::json json_of(const PredictArguments& arguments, const UnlabelledSamples& samples,
                       const data::DataFormat& format, const Answers& answers) {
  nlohmann::json object = json_of_samples(arguments, samples);
  if (!arguments.out.empty()) return object;
  nlohmann::json predictions = nlohmann::json::array();
  for (const double prediction : answers.predictions) {
    if (format.classes.empty()) predictions.push_back(prediction);
    else predictions.push_back(format.classes[static_cast<std::size_t>(prediction)]);
  }
  object["predictions"] = std::move(predictions);
  return object;
}

void check_arguments(const PredictArguments& arguments, const LoadedModel& loaded) {
  if (arguments.has_bits) {
    throw UsageError("[predict] --bits is for circuits, not for classifiers");
  }
  const std::int64_t classes = std::ssize(loaded.model.classifier()->format.classes);
  if (classes == 0 && (arguments.scores || arguments.top != 1)) {
    throw UsageError("[predict] --top and --scores are for classes, not for values");
  }
  if (classes > 0 && (arguments.top < 1 || arguments.top > classes)) {
    throw UsageError(fmt::format("[predict] expected --top from 1 to {}, the classes, received {}",
                                 classes, arguments.top));
  }
}

void predict_samples(const PredictArguments& arguments, const CircuitSource& source,
                     const CommonOptions& common) {
  check_arguments(arguments, *source.model);
  const Classifier& classifier = *source.model->model.classifier();
  const data::DataFormat& format = classifier.format;
  const UnlabelledSamples samples = read_unlabelled_samples(arguments.data, classifier);
  check_samples(arguments, samples, common);
  const Answers answers = answers_of(source, samples);
  write_table(arguments, samples, table_of(arguments, samples, format, answers), common);
  if (common.json) print_json(json_of(arguments, samples, format, answers));
}

int run(const PredictArguments& arguments, const CommonOptions& common) {
  const CircuitSource source = load_circuit(arguments.model);
  if (source.netlist.state) {
    fail("predict",
         "{}: expected a classifier or a circuit, received an automaton (see boolgrad run)",
         arguments.model);
  }
  if (source.model && source.model->model.classifier()) {
    predict_samples(arguments, source, common);
  } else {
    predict_circuit(arguments, source.netlist, common);
  }
  return 0;
}

}  // namespace

void add_predict(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "predict",
                  "Predict classes or values of samples without labels, or run a circuit.",
                  "boolgrad predict runs/iris-1 --data new.csv -o predicted.csv\n"
                  "  boolgrad predict runs/mnist-1 --data digit.png --top 3\n"
                  "  cut -d, -f1-4 new.csv | boolgrad predict runs/iris-1 --data -\n"
                  "  printf 'a,b\\n3,5\\n' | boolgrad predict adder.blif --data -",
                  "The answers are those of the hardened circuit. They are printed as CSV. MODEL "
                  "may be a circuit too: netlist text, BLIF, AIGER, structural Verilog or an HTML "
                  "viewer. Its inputs are bits or, where ports have several bits, numbers.");
  const auto arguments = std::make_shared<PredictArguments>();
  add_model(*command, arguments->model);
  command
      ->add_option("--data", arguments->data,
                   "CSV, NPY, IDX or PNG file, a folder of PNG files, or - for CSV from the "
                   "standard input")
      ->type_name("PATH")
      ->required();
  command->add_option("-o,--out", arguments->out, "CSV file to write; printed by default")
      ->type_name("FILE");
  command->add_option("--top", arguments->top, "Number of classes per sample, the likeliest first")
      ->type_name("K")
      ->capture_default_str();
  command->add_flag("--scores", arguments->scores, "Add the probabilities of all classes");
  command->add_flag("--skip-bad-rows", arguments->skips_bad_rows,
                    "Leave out samples that cannot be read and predict the others");
  command->add_flag("--bits", arguments->has_bits, "Circuits: print a column per bit");
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
