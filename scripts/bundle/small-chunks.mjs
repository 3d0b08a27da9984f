import { createHash } from 'node:crypto';

/** Only what several entries share: an entry is a command, of which a process loads few. */
const shared = /^chunk-/;
/** Larger chunks are rarely loaded, or are worth a file of their own. */
const maxLength = 16_000;

/**
 * Puts the small chunks into one file, an object with the chunks by name, which `src/cli/chunk-loader.ts` evaluates. Half of the chunks that a
 * command loads are smaller than 2 kB.
 * @param chunks what {@link asScript} returns, by name
 * @param maps the source maps of the chunks, by file name
 */
export function joinSmallChunks(chunks, maps) {
  const names = [...chunks.keys()].filter(
    (name) => shared.test(name) && chunks.get(name).length < maxLength,
  );
  const sections = [];
  let text = '({\n';
  let line = 1;
  for (const name of names) {
    const script = withoutParentheses(chunks.get(name));
    const map = JSON.parse(maps.get(`${name}.map`));
    sections.push({ offset: { line: line + 1, column: 0 }, map });
    text += `${JSON.stringify(name)}:\n${script},\n`;
    line += script.split('\n').length + 1;
  }
  text += '})\n';
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase();
  const name = `small-${hash}.cjs`;
  return { names, name, text, map: `${JSON.stringify({ version: 3, file: name, sections })}\n` };
}

/** V8 compiles a function in parentheses at once, also one that is not called. */
function withoutParentheses(script) {
  return script.trimEnd().slice(1, -1);
}
