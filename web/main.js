// Starts the viewer for the kind of model in the page.
{
  const model = JSON.parse(byId('model').textContent);
  const netlist = readNetlist(model.netlist);
  const View = netlist.state !== null ? AutomatonView
      : model.classifier !== undefined ? ClassifierView : CircuitView;
  const view = new View(netlist, model);
  const applyAddress = () => {
    showError('');
    try {
      view.applyAddress(addressOptions());
    } catch (error) {
      showError(error.message);
    }
  };
  window.addEventListener('hashchange', applyAddress);
  applyAddress();
}
