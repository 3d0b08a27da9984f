const imported = /^\s*import\s*(?:\{([^}]*)\}\s*from\s*)?"(\.\/[^"]+)";/;
const exported = /export\s*\{([^}]*)\};\s*$/;

/**
 * A chunk, an ES module of esbuild, as an expression that `src/cli/chunk-loader.ts` evaluates. V8 gives the code of such a script after it has
 * run, and of an ES module only before. Names are imported as constants: esbuild's chunks do not import each other in circles, and nothing
 * assigns to an exported name later. Lines stay, for the source map.
 */
export function asScript(name, text) {
  if (/^chunk-/.test(name) && /=\s*__esm\(\{/.test(text))
    throw new Error(`${name}, which others import, holds a module that is initialized later`);
  let rest = text.replace(/^#!.*/, '');
  let head = '';
  for (let found = imported.exec(rest); found !== null; found = imported.exec(rest)) {
    const [whole, names, from] = found;
    const target =
      names === undefined ? '' : `const{${renamed(names, (name, as) => `${name}:${as}`)}}=`;
    head += `${target}require("${from}");${'\n'.repeat(linesIn(whole) - linesIn(names ?? ''))}`;
    rest = rest.slice(whole.length);
  }
  const body = rest
    .replace(exported, (_, names) => `return{${renamed(names, (name, as) => `${as}:${name}`)}};`)
    .replaceAll(/\bimport\(("\.\/[^"]+")\)/g, 'Promise.resolve().then(()=>require($1))')
    .replaceAll('import.meta.url', 'importMetaUrl');
  // A line after a backslash continues a string.
  const left = /(?<!\\\n)^\s*(?:import|export)\b|import\.meta/m.exec(body);
  if (left !== null) throw new Error(`Expected only imports of chunks, found "${left[0]}"`);
  return `(function(require,importMetaUrl){"use strict";${head}${body}})\n`;
}

/** `a as b,c` with each name and the name that it gets. */
function renamed(names, format) {
  return names.replaceAll(/([\w$]+)(?:\s+as\s+([\w$]+))?/g, (_, name, as = name) =>
    format(name, as),
  );
}

function linesIn(text) {
  return text.split('\n').length - 1;
}
