// To be imported before `node:test`, which then knows the test that runs by an `AsyncLocalStorage`. By itself it follows each promise with an async
// hook, which makes promises several times as expensive: a third of the time of the unit tests.
import { createRequire } from 'node:module';

// Its properties can be replaced, unlike those of an ES module.
const hooks = createRequire(import.meta.url)('node:async_hooks');
const { AsyncLocalStorage, AsyncResource, executionAsyncId } = hooks;
/** The id of the test, the suite or the hook that runs. */
const running = new AsyncLocalStorage();
let remember = () => {};

/** The only caller is the test runner: `init` remembers tests by their ids. */
hooks.createHook = ({ init }) => {
  remember = init;
  return { enable() {}, disable() {} };
};
hooks.executionAsyncId = () => running.getStore() ?? executionAsyncId();

const { runInAsyncScope } = AsyncResource.prototype;
AsyncResource.prototype.runInAsyncScope = function (work, self, ...args) {
  const id = this.asyncId();
  remember(id, 'AsyncResource', 0, this);
  const inContext = (...given) => running.run(id, () => work.apply(self, given));
  return runInAsyncScope.call(this, inContext, undefined, ...args);
};
