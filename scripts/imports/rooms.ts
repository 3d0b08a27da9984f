/**
 * The floors of `src`, by folder: the rooms of each. A room that is a folder of its own beside the floors is `util`, `sandbox` or `cli`.
 * Rooms have unique names, so that the tables below and all messages name a file from its room on: `kube/api/writer.ts`.
 */
export const floors: Readonly<Record<string, readonly string[]>> = {
  engine: [
    ...['files', 'telemetry', 'conversion', 'definition', 'compile', 'check', 'kube', 'controller'],
    ...['reconcile', 'http-objects', 'conversion-webhook', 'runtime', 'http'],
  ],
  authoring: ['plan', 'simulation', 'testing', 'render', 'fuzz', 'import', 'dev', 'lsp', 'library'],
  console: ['web', 'console', 'playground'],
};

/** The folder of a room below `src`: `engine/kube`. */
export function folderOf(room: string): string {
  const floor = Object.keys(floors).find((each) => floors[each]?.includes(room));
  return floor === undefined ? room : `${floor}/${room}`;
}

/** The path below `src` of a path from a room on. */
export function belowSource(path: string): string {
  const [room = '', ...rest] = path.split('/');
  return [folderOf(room), ...rest].join('/');
}

/** The path from its room on, of a path below `src`. */
export function fromRoom(path: string): string {
  const [floor = '', ...rest] = path.split('/');
  return floor in floors ? rest.join('/') : path;
}

/**
 * By room, the rooms that it may import, itself aside: `kube` stands for `kube/index.ts` and `kube/roles.ts`,
 * `kube/roles` for that file alone, `sandbox/node` for the `index.ts` of that folder. `util` has no entry: all of its files.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  util: [],
  files: ['util'],
  telemetry: ['util'],
  conversion: ['util'],
  definition: ['util', 'conversion'],
  compile: ['util', 'conversion', 'definition'],
  check: ['util', 'conversion', 'definition', 'compile', 'http-objects/spec'],
  kube: ['util', 'telemetry', 'files'],
  controller: ['util', 'telemetry/roles'],
  reconcile: ['util', 'definition', 'compile', 'controller', 'kube/roles', 'telemetry/roles'],
  'http-objects': ['util', 'compile/language', 'controller', 'kube/roles', 'telemetry/roles'],
  'conversion-webhook': ['util', 'conversion', 'kube/roles', 'telemetry/roles'],
  sandbox: ['util', 'conversion', 'kube/roles'],
  runtime: engine(),
  plan: [...engine(), 'runtime'],
  http: ['util', 'telemetry', 'runtime'],
  dev: [...engine(), 'runtime', 'sandbox', 'sandbox/node'],
  simulation: [
    ...[...engine(), 'http-objects', 'http-objects/kinds', 'runtime', 'plan', 'sandbox'],
    'sandbox/node',
  ],
  testing: [
    ...['util', 'telemetry', 'files', 'conversion', 'definition', 'compile', 'check', 'kube'],
    ...[
      'conversion/proof',
      'reconcile',
      'runtime',
      'plan',
      'sandbox',
      'simulation',
      'http-objects/kinds',
      'http-objects/spec',
    ],
  ],
  render: [
    ...['util', 'telemetry', 'definition', 'compile', 'check', 'kube', 'reconcile', 'plan'],
    ...['sandbox', 'simulation', 'testing'],
  ],
  fuzz: [...['util', 'definition', 'check', 'kube', 'reconcile', 'plan', 'sandbox', 'simulation']],
  import: [
    ...['util', 'definition', 'compile', 'check', 'kube', 'reconcile', 'sandbox', 'simulation'],
    'render',
  ],
  lsp: [
    ...['util', 'files', 'definition', 'compile', 'http-objects/kinds', 'simulation', 'testing'],
  ],
  web: ['util'],
  console: [
    ...['util', 'telemetry', 'files', 'definition', 'compile', 'check', 'kube', 'reconcile'],
    ...['runtime', 'plan', 'http', 'web'],
  ],
  playground: [
    ...['util', 'telemetry', 'definition', 'compile', 'check', 'kube', 'sandbox', 'runtime'],
    ...['simulation', 'testing', 'dev', 'console', 'web', 'web/browser'],
  ],
  library: [
    ...['util', 'telemetry', 'files', 'definition', 'compile', 'check', 'runtime', 'sandbox/node'],
    ...['dev', 'simulation', 'testing', 'render'],
  ],
  cli: [
    ...[...engine(), 'runtime', 'plan', 'sandbox', 'dev'],
    ...['simulation', 'testing', 'render', 'fuzz', 'import'],
    ...[
      'http',
      'http-objects',
      'http-objects/kinds',
      'http-objects/spec',
      'conversion-webhook',
      'lsp',
      'console',
      'console/node',
    ],
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
  semver: 'compile/language/functions/versions.ts',
  'ipaddr.js': 'compile/language/functions/ip-range.ts',
  'smol-toml': 'compile/language/functions/config-formats.ts',
  undici: 'kube',
  '@kubernetes/client-node': 'kube',
  '@marcbachmann/cel-js': 'sandbox',
  '@peculiar/x509': 'conversion-webhook/certificates/x509.ts',
  'reflect-metadata': 'conversion-webhook/certificates/x509.ts',
  express: 'http',
  'fast-check': 'fuzz',
  'vscode-languageserver-protocol': 'lsp/protocol.ts',
  'vscode-languageserver-textdocument': 'lsp/protocol.ts',
  preact: 'web/preact.ts',
  '@codemirror/commands': 'web/editor/code-mirror.ts',
  '@codemirror/lang-yaml': 'web/editor/yaml-language.ts',
  '@codemirror/language': 'web/editor/code-mirror.ts',
  '@codemirror/lint': 'web/editor/code-mirror.ts',
  '@codemirror/state': 'web/editor/code-mirror.ts',
  '@codemirror/view': 'web/editor/code-mirror.ts',
  '@lezer/common': 'web/editor/yaml-language.ts',
  '@lezer/highlight': 'web/editor/code-mirror.ts',
  commander: 'cli',
};

/** Everything that runs a definition, below `runtime`. */
function engine(): readonly string[] {
  return [
    'util',
    'telemetry',
    'files',
    'conversion',
    'definition',
    'compile',
    'check',
    'kube',
    'controller',
    'reconcile',
  ];
}
