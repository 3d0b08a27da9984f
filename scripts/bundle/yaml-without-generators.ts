import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/** The classes whose methods are generators, by file, with the method that callers iterate over. */
const entries: Readonly<Record<string, string>> = { lexer: 'lex', parser: 'parse' };

const parserFiles = /[\\/]yaml[\\/]browser[\\/]dist[\\/]parse[\\/](lexer|parser)\.js$/;

/**
 * The lexer and the parser of the YAML library with plain methods: each token passes through four to six generators there, which take
 * 40 % of the time of reading a file. Both give lists instead of iterators, and callers iterate over these.
 * @param suffix is written below the text of each file
 */
export function yamlPlugin(suffix = ''): Plugin {
  return {
    name: 'yaml-without-generators',
    setup(build) {
      build.onLoad({ filter: parserFiles }, ({ path }) => {
        const file = parserFiles.exec(path)?.[1] ?? '';
        const text = withoutGenerators(readFileSync(path, 'utf8'), entries[file] ?? '');
        return { contents: `${text}\n${suffix}`, loader: 'js' };
      });
    },
  };
}

function withoutGenerators(text: string, entry: string): string {
  const plain = text
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    .replaceAll(/^ {4}\*(\w+)\(/gm, '    $1(')
    .replaceAll(/\byield\* /g, '')
    // An assignment stands wherever a `yield` does, also before an object of several lines.
    .replaceAll(/\byield /g, 'this.found = ');
  const [head, body] = plain.split(`\n    ${entry}(source, incomplete = false) {`);
  if (body === undefined || /\byield\b/.test(plain))
    throw new Error(`Expected generators and the method "${entry}" in the YAML library`);
  return `${head}
    set found(token) {
        this.all.push(token);
    }
    ${entry}(source, incomplete) {
        this.all = [];
        this.read(source, incomplete);
        return this.all;
    }
    read(source, incomplete = false) {${body}`;
}
