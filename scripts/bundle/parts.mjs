// Which parts of packages the bundle leaves out. Each is something that Homeostat cannot reach; whatever still asks for it fails with its name.
// A name that a new version of a package asks for and a part here does not have fails the build.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';

const clientNode = /@kubernetes[\\/]client-node[\\/]dist[\\/]/;

/** Source of an ES module whose exports throw when they are called or constructed. */
function unused(...names) {
  return names
    .map(
      (name) =>
        `export function ${name}() { throw new Error('"${name}" is not part of the bundle of Homeostat'); }`,
    )
    .join('\n');
}

/** The same as a CommonJS module. */
function unusedCommonJs(...names) {
  return `module.exports = {\n${names
    .map(
      (name) =>
        `${name}() { throw new Error('"${name}" is not part of the bundle of Homeostat'); },`,
    )
    .join('\n')}\n};`;
}

/** A CommonJS module that is one function. */
function unusedFunction(name) {
  return `module.exports = function () { throw new Error('"${name}" is not part of the bundle of Homeostat'); };`;
}

/** The library of CEL as a CommonJS module, which runs when it is required. */
const celLibrary = '@marcbachmann/cel-js/lib/index.cjs';

/**
 * @typedef {object} Part
 * @property {RegExp} filter what is imported
 * @property {RegExp} [importer] by whom, when not by anybody
 * @property {string} source what it gets instead
 */

/** @type {readonly Part[]} */
export const parts = [
  {
    // Of client-node we use reading kubeconfig files and logging in; its generated client (600 KB) is never made.
    filter: /^\.\/gen\/index\.js$/,
    importer: clientNode,
    source: unused('createConfiguration', 'ServerConfiguration'),
  },
  { filter: /^\.\/middleware\.js$/, importer: clientNode, source: unused('setHeaderMiddleware') },
  { filter: /^undici$/, importer: clientNode, source: unused('Agent', 'ProxyAgent') },
  {
    // Tokens of OIDC providers are ours (kube/config/oidc-tokens.ts).
    filter: /^\.\/oidc_auth\.js$/,
    importer: clientNode,
    source: 'export class OpenIDConnectAuth { isAuthProvider() { return false; } }',
  },
  { filter: /^socks$/, importer: clientNode, source: 'export const SocksClient = {};' },
  { filter: /^socks-proxy-agent$/, importer: clientNode, source: unused('SocksProxyAgent') },
  {
    // Logging in makes an agent beside the credentials, which nobody uses: it may be made.
    filter: /^hpagent$/,
    importer: clientNode,
    source: 'export class HttpProxyAgent {}\nexport class HttpsProxyAgent {}',
  },
  {
    // For the logins of two clouds only: loaded when one is used.
    filter: /^jsonpath-plus$/,
    importer: clientNode,
    source: `export function JSONPath(options) { return require('jsonpath-plus').JSONPath(options); }`,
  },
  {
    // For subcommands that are programs of their own, which we do not have.
    filter: /^node:child_process$/,
    importer: /[\\/]commander[\\/]/,
    source: unusedCommonJs('spawn'),
  },
  {
    // Its index holds fetch, WebSocket, caches, mocks. The files are those that the index takes the names from, and its one side effect.
    filter: /^undici$/,
    source: `import api from 'undici/lib/api/index.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
Object.assign(Dispatcher.prototype, api);
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';`,
  },
  {
    // `allowH2: false` everywhere. It would load node:http2, 12 MiB.
    filter: /^\.\/client-h2\.js$/,
    importer: /[\\/]undici[\\/]lib[\\/]/,
    source: unusedFunction('HTTP/2'),
  },
  {
    // Bodies of requests are texts; this makes one of FormData.
    filter: /^\.\.\/web\/fetch\/body\.js$/,
    importer: /[\\/]undici[\\/]lib[\\/]/,
    source: unusedCommonJs('extractBody'),
  },
  {
    // We read no body of a request; this one brings the character sets of the world (550 KB).
    filter: /^body-parser$/,
    importer: /[\\/]express[\\/]lib[\\/]/,
    source: unusedCommonJs('json', 'raw', 'text', 'urlencoded'),
  },
  {
    // Metrics are read from us, by one process.
    filter: /^\.\/lib\/(?:pushgateway|cluster)$/,
    importer: /[\\/]prom-client[\\/]/,
    source: unusedFunction('pushgateway, cluster'),
  },
  {
    // For exemplars, which we do not have.
    filter: /^@opentelemetry\/api$/,
    importer: /[\\/]prom-client[\\/]/,
    source: unusedCommonJs('trace'),
  },
  {
    // Only the parser is used, by templates with `{{ }}`: its tables are built with the first one.
    filter: /^handlebars$/,
    source: `export default {
  parse(text) { return require('handlebars/dist/cjs/handlebars/compiler/base.js').parse(text); },
};`,
  },
  {
    // Its build for Node asks for an environment variable with each token, which takes longer than to read the token.
    filter: /^yaml$/,
    source: `export * from './node_modules/yaml/browser/dist/index.js';`,
  },
  {
    // It registers hundreds of overloads when it is loaded, a tenth of a short command: that is done with the first rule.
    filter: /^@marcbachmann\/cel-js$/,
    source: `const library = () => require('${celLibrary}');
export class Environment {
  constructor(options) {
    return new (library().Environment)(options);
  }
}
export const ParseError = { [Symbol.hasInstance]: (error) => error instanceof library().ParseError };`,
  },
  {
    // Logs go to standard output, never through a worker.
    filter: /^thread-stream$/,
    importer: /[\\/]pino[\\/]lib[\\/]/,
    source: unusedFunction('thread-stream'),
  },
];

/**
 * Takes Node's own modules from `process.getBuiltinModule`. An ES import reads every export of the module at once, and some load much more:
 * `node:util` loads the comparison of texts and the worker threads, `node:http` its WebSocket. esbuild copies the fields of a module, which
 * loads them, too: those of a prototype it leaves.
 */
export function builtinsPlugin() {
  return {
    name: 'builtins',
    setup(build) {
      build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace: 'builtin' } : undefined,
      );
      build.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
        contents: `const builtin = process.getBuiltinModule(${JSON.stringify(path)});
module.exports = typeof builtin === 'function' ? builtin : Object.create(builtin);`,
      }));
    },
  };
}

/** Large texts that commands rarely read: compressed, they take a seventh of the package. */
const rarelyRead = /builtin-descriptions\.generated\.json$/;

function compressedModule(text) {
  const packed = brotliCompressSync(text).toString('base64');
  return `const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
export default JSON.parse(brotliDecompressSync(Buffer.from('${packed}', 'base64')).toString('utf8'));`;
}

/** A module whose value is parsed when the first of its fields is read: tables of protobuf or of columns rarely are. */
function lazyModule(fields, expression) {
  const getters = fields.map((field) => `get ${field}() { return read().${field}; }`);
  return `let value;
const read = () => (value ??= ${expression});
export default { ${getters.join(', ')} };`;
}

/**
 * Large JSON is parsed by JSON.parse, which takes a third of the time and of the memory of an object literal. `packs`: compresses what is
 * rarely read, for Node.
 */
export function jsonPlugin({ packs = true } = {}) {
  return {
    name: 'json',
    setup(build) {
      build.onLoad({ filter: /\.generated\.json$|[\\/]mime-db[\\/]db\.json$/ }, ({ path }) => {
        const value = JSON.parse(readFileSync(path, 'utf8'));
        const text = JSON.stringify(value);
        if (packs && rarelyRead.test(path)) return { contents: compressedModule(text) };
        const parse = `JSON.parse(${JSON.stringify(text)})`;
        if (!path.endsWith('.generated.json')) return { contents: `module.exports = ${parse};` };
        return { contents: lazyModule(Object.keys(value), parse) };
      });
    },
  };
}

/** Puts {@link parts} into a build. */
export function partsPlugin() {
  return {
    name: 'parts',
    setup(build) {
      for (const [index, { filter, importer }] of parts.entries()) {
        build.onResolve({ filter }, ({ path, importer: from, namespace }) => {
          if (namespace === 'part' || (importer !== undefined && !importer.test(from))) return;
          return { path: `${path}#${index}`, namespace: 'part', pluginData: index };
        });
      }
      build.onLoad({ filter: /./, namespace: 'part' }, ({ pluginData }) => ({
        contents: parts[pluginData].source,
        resolveDir: process.cwd(),
      }));
    },
  };
}

/** Makes {@link celLibrary}, which the package does not have: its modules run when they are loaded. */
export function celPlugin() {
  return {
    name: 'cel',
    setup({ onResolve, onLoad }) {
      const path = join(import.meta.dirname, '../../node_modules', celLibrary);
      onResolve({ filter: /cel-js\/lib\/index\.cjs$/ }, () => ({ path }));
      onLoad({ filter: /cel-js[\\/]lib[\\/]index\.cjs$/ }, async () => {
        const entryPoints = [path.replace(/cjs$/, 'js')];
        const options = { bundle: true, write: false, format: 'cjs', platform: 'neutral' };
        const { outputFiles } = await build({ entryPoints, ...options });
        return { contents: outputFiles[0].text };
      });
    },
  };
}

const emptyMap = JSON.stringify({ version: 3, sources: [''], names: [], mappings: 'AAAA' });

/** Ends a file whose lines are not in the source map. */
export const noMap = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(emptyMap).toString('base64')}`;

/** The source maps name the files of packages without their lines, which would be half of the maps. Lines of our own sources stay. */
export function ownMapsPlugin() {
  return {
    name: 'own-maps',
    setup(build) {
      build.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path }) => ({
        contents: `${readFileSync(path, 'utf8')}\n${noMap}`,
        loader: 'js',
      }));
    },
  };
}
