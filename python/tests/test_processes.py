"""Threads, forks, signals and memory."""

import gc
import multiprocessing
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import boolgrad
from conftest import flowers, resident_bytes


def test_two_threads_predict_as_one(classifier, checkerboard):
    x, _ = flowers(20_000, seed=9)
    expected = classifier.predict(x), classifier.predict_soft(x), checkerboard.run(size=(64, 64), steps=50)
    # A copy without anything prepared: both threads prepare it.
    import pickle

    fresh = pickle.loads(pickle.dumps(classifier))
    received = [None, None]

    def work(index):
        for _ in range(5):
            received[index] = fresh.predict(x), fresh.predict_soft(x), checkerboard.run(size=(64, 64), steps=50)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for results in received:
        for result, wanted in zip(results, expected):
            np.testing.assert_array_equal(result, wanted)


def test_other_threads_run_while_one_computes(checkerboard):
    done = threading.Event()

    def work():
        checkerboard.run(size=(512, 512), steps=2000)
        done.set()

    thread = threading.Thread(target=work)
    start = time.monotonic()
    thread.start()
    ticks = 0
    while not done.is_set():
        time.sleep(0.01)
        ticks += 1
    seconds = time.monotonic() - start
    thread.join()
    assert ticks > 5 and ticks * 0.01 > seconds / 4


def _predict_in_child(arguments):
    model, x = arguments
    return model.predict(x), boolgrad.thread_count()


def test_fork_after_use(classifier):
    x, _ = flowers(20_000, seed=9)
    expected = classifier.predict(x)  # starts the threads of the parent
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for predicted, threads in pool.map(_predict_in_child, [(classifier, x)] * 4, chunksize=1):
            np.testing.assert_array_equal(predicted, expected)
            assert threads == 1
    np.testing.assert_array_equal(classifier.predict(x), expected)


def _train_in_child(folder):
    return boolgrad.train("add", out=folder, seed=1).metrics["step"]


def test_training_after_fork(trained, adder):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_train_in_child, ("forked",)) == trained("add").metrics["step"]
    assert boolgrad.load("forked/model.safetensors").to_netlist().to_text() == adder.to_netlist().to_text()


def test_workers_of_a_data_loader(classifier, checkerboard):
    torch = pytest.importorskip("torch")
    x, _ = flowers(64, seed=9)
    expected = classifier.predict(x)  # starts the threads of the parent

    class Predicted(torch.utils.data.Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, i):
            return classifier.predict(x[i : i + 1])[0], checkerboard.run(steps=1, seed=i)

    loader = torch.utils.data.DataLoader(Predicted(), batch_size=16, num_workers=2, multiprocessing_context="fork")
    batches = list(loader)
    np.testing.assert_array_equal(torch.cat([classes for classes, _ in batches]), expected)
    np.testing.assert_array_equal(batches[3][1][-1], checkerboard.run(steps=1, seed=63))


LONG_RUN = """
import boolgrad
for metrics in boolgrad.train_iter("multiply", out="run", steps=1_000_000, overrides={"training.stop_when_solved": False}):
    print(metrics["step"], flush=True)
"""


def test_ctrl_c_leaves_a_checkpoint():
    # Programs that a shell starts in the background ignore SIGINT, and so would their children.
    process = subprocess.Popen([sys.executable, "-c", LONG_RUN], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    for _ in range(3):
        assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and errors.rstrip().endswith("KeyboardInterrupt")
    assert not pathlib.Path("run/model.safetensors").exists()
    steps = iter(boolgrad.train_iter(out="run", resume=True, steps=1_000_000))
    stopped_at = next(steps)["step"]
    assert stopped_at >= 10
    # The same bits as a run that was stopped at this step by its own will.
    overrides = {"training.stop_when_solved": False}
    with boolgrad.train_iter("multiply", out="other", steps=stopped_at, overrides=overrides) as run:
        last = list(run)[-1]
    resumed = boolgrad.load("run/checkpoint.safetensors").to_netlist().to_text()
    assert last["step"] == stopped_at
    assert resumed == boolgrad.load("other/model.safetensors").to_netlist().to_text()


def test_memory_stays_flat(adder, classifier, trained, tmp_path):
    path = trained("add").folder / "model.safetensors"
    x, _ = flowers(64)
    bits = np.zeros((64, 8), dtype=np.uint8)

    def cycle():
        model = boolgrad.load(path)
        model.predict(bits)
        circuit = model.to_netlist()
        circuit.to_text()
        with pytest.raises(ValueError):
            classifier.predict(x[:, :2])
        classifier.predict(x)
        del model, circuit

    for _ in range(200):
        cycle()
    gc.collect()
    before = resident_bytes()
    for _ in range(1000):
        cycle()
    gc.collect()
    assert resident_bytes() - before < 4e6


def test_training_memory_stays_flat():
    def cycle():
        boolgrad.train("add", steps=2, out="run")
        x, y = flowers(64)
        boolgrad.train("table", data=(x, y), steps=2, out="arrays")

    for _ in range(10):
        cycle()
    gc.collect()
    before = resident_bytes()
    for _ in range(50):
        cycle()
    gc.collect()
    assert resident_bytes() - before < 8e6


def test_threads_do_not_change_results(adder):
    before = boolgrad.thread_count()
    try:
        for count in (1, 3):
            boolgrad.set_thread_count(count)
            assert boolgrad.thread_count() == count
            result = boolgrad.train("add", seed=1, out=f"run{count}")
            assert result.model.to_netlist().to_text() == adder.to_netlist().to_text()
        with pytest.raises(ValueError, match="expected at least 1 thread, received 0"):
            boolgrad.set_thread_count(0)
    finally:
        boolgrad.set_thread_count(before)


def test_import_is_fast_and_needs_neither_torch_nor_sklearn():
    others = ("torch", "sklearn", "pandas", "tensorboard", "jax")
    code = f"import sys, boolgrad; print([m for m in {others} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


