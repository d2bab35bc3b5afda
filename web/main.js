// Starts the viewer for the kind of model in the page.
{
  const model = JSON.parse(byId('model').textContent);
  const netlist = readNetlist(model.netlist);
  const view = netlist.state === null ? new CircuitView(netlist, model)
                                      : new AutomatonView(netlist, model);
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
