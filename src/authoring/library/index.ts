import type * as api from './api.ts';

// Each function imports what it needs when it is called: a program that only checks definitions loads no API server.

export const loadDefinitions: typeof api.loadDefinitions = async (...paths) => {
  const { loadSources } = await import('./source-files.ts');
  return loadSources(paths);
};

export const compile: typeof api.compile = async (definitions) => {
  const { compileDefinitions } = await import('./compile-definitions.ts');
  return compileDefinitions(definitions);
};

export const render: typeof api.render = async (definitions, resource, options) => {
  const { renderDefinitions } = await import('./render-definitions.ts');
  return renderDefinitions(definitions, resource, options);
};

export const runTests: typeof api.runTests = async (tests, options) => {
  const { runOperatorTests } = await import('./run-operator-tests.ts');
  return runOperatorTests(tests, options);
};

export const createSandbox: typeof api.createSandbox = async (options) => {
  const { startSandbox } = await import('./start-sandbox.ts');
  return startSandbox(options);
};
