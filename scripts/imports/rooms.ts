/**
 * By room, the rooms that it may import, itself aside: `kube` stands for `kube/index.ts` and `kube/roles.ts`,
 * `kube/roles` for that file alone, `sandbox/node` for the `index.ts` of that folder. `util` has no entry: all of its files.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  util: [],
  files: ['util'],
  telemetry: ['util'],
  definition: ['util'],
  compile: ['util', 'definition'],
  check: ['util', 'definition', 'compile'],
  kube: ['util', 'telemetry', 'files'],
  controller: ['util', 'telemetry/roles'],
  reconcile: ['util', 'definition', 'compile', 'controller', 'kube/roles', 'telemetry/roles'],
  'http-objects': ['util', 'compile/language', 'controller', 'kube/roles', 'telemetry/roles'],
  sandbox: ['util', 'kube/roles'],
  runtime: engine(),
  plan: [...engine(), 'runtime'],
  http: ['util', 'telemetry', 'runtime'],
  dev: [...engine(), 'runtime', 'sandbox', 'sandbox/node'],
  simulation: [...engine(), 'runtime', 'plan', 'sandbox', 'sandbox/node'],
  lsp: ['util', 'files', 'definition', 'compile', 'simulation'],
  web: ['util'],
  console: [
    ...['util', 'telemetry', 'files', 'definition', 'compile', 'check', 'kube', 'reconcile'],
    ...['runtime', 'plan', 'http', 'web'],
  ],
  playground: [
    ...['util', 'telemetry', 'definition', 'compile', 'check', 'kube', 'sandbox', 'runtime'],
    ...['dev', 'simulation', 'console', 'web', 'web/browser'],
  ],
  library: [...engine(), 'runtime', 'plan', 'sandbox', 'sandbox/node', 'dev', 'simulation'],
  cli: [
    ...[...engine(), 'runtime', 'plan', 'sandbox', 'sandbox/node', 'dev', 'simulation'],
    ...['http', 'lsp', 'console', 'console/node'],
  ],
};

/** By package, the room or the one file that imports it. */
export const packages: Readonly<Record<string, string>> = {
  'fast-deep-equal': 'util',
  croner: 'util',
  '@noble/hashes': 'util',
  pino: 'telemetry',
  'prom-client': 'telemetry',
  yaml: 'definition',
  ajv: 'definition',
  jsonata: 'compile',
  handlebars: 'compile',
  re2js: 'compile',
  undici: 'kube',
  '@kubernetes/client-node': 'kube',
  '@marcbachmann/cel-js': 'sandbox',
  express: 'http',
  'fast-check': 'simulation',
  'vscode-languageserver-protocol': 'lsp/protocol.ts',
  'vscode-languageserver-textdocument': 'lsp/protocol.ts',
  preact: 'web/preact.ts',
  '@codemirror/commands': 'web/editor/code-mirror.ts',
  '@codemirror/lang-yaml': 'web/editor/code-mirror.ts',
  '@codemirror/language': 'web/editor/code-mirror.ts',
  '@codemirror/lint': 'web/editor/code-mirror.ts',
  '@codemirror/state': 'web/editor/code-mirror.ts',
  '@codemirror/view': 'web/editor/code-mirror.ts',
  '@lezer/highlight': 'web/editor/code-mirror.ts',
  commander: 'cli',
};

/** Everything that runs a definition, below `runtime`. */
function engine(): readonly string[] {
  return [
    'util',
    'telemetry',
    'files',
    'definition',
    'compile',
    'check',
    'kube',
    'controller',
    'reconcile',
  ];
}
