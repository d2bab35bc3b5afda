// Starts the page that the model needs.
{
  const model = JSON.parse(byId('model').textContent);
  const netlist = readNetlist(model.netlist);
  const view = netlist.state === null ? new CircuitView(netlist, model)
                                      : new AutomatonView(netlist, model);
  const follow = () => {
    complain('');
    try {
      view.follow(wishes());
    } catch (error) {
      complain(error.message);
    }
  };
  window.addEventListener('hashchange', follow);
  follow();
}
