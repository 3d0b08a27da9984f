import { isJsonObject } from '#util/json.ts';

/** A command of a `console` block, and what it prints. */
export interface Command {
  readonly words: readonly string[];
  /** What a here-document gives it; empty without one. */
  readonly input: string;
  readonly output: readonly string[];
  /** Where its output begins: a line of the block, from 0. */
  readonly outputAt: number;
}

/**
 * The commands of a `console` block: lines that begin with `$ `, each with its output below it. A command may end with `<<EOF`; its
 * input are the lines up to `EOF` then.
 */
export function parseTranscript(text: string): readonly Command[] {
  const commands: (Command & { input: string; outputAt: number; readonly output: string[] })[] = [];
  let isInput = false;
  for (const [at, line] of text.trimEnd().split('\n').entries()) {
    const current = commands.at(-1);
    if (line.startsWith('$ ')) {
      const words = splitWords(line.slice(2));
      isInput = words.at(-1) === '<<EOF';
      const given = isInput ? words.slice(0, -1) : words;
      commands.push({ words: given, input: '', output: [], outputAt: at + 1 });
    } else if (current === undefined) {
      throw new Error(`Expected a command at the beginning, found "${line}"`);
    } else if (isInput) {
      current.outputAt = at + 1;
      isInput = line !== 'EOF';
      if (isInput) current.input += `${line}\n`;
    } else current.output.push(line);
  }
  return commands;
}

/** The words of a command line, as a shell splits them: quotes keep words together. */
function splitWords(line: string): readonly string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

/**
 * Is that what a page shows? Blanks count as one, ages count as equal, and `...` in the page stands for anything within a line.
 * @param options.inOrder false: the lines may come in another order
 */
export function matchesOutput(
  actual: readonly string[],
  shown: readonly string[],
  { inOrder = true }: { readonly inOrder?: boolean } = {},
): boolean {
  if (actual.length !== shown.length) return false;
  const matches = (line: string, at: number) =>
    fitsPattern(plainLine(actual[at] ?? ''), plainLine(line));
  if (inOrder) return shown.every(matches);
  const left = new Set(actual.keys());
  return shown.every((line) => {
    const found = [...left].find((at) => matches(line, at));
    return found !== undefined && left.delete(found);
  });
}

/** Is that the text? `...` in the pattern is anything. */
function fitsPattern(text: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('...');
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Without what differs from run to run. */
function plainLine(line: string): string {
  return line.trimEnd().replaceAll(agePattern, '$1<age>').replaceAll(/\s+/g, ' ');
}

/** An age that fills a column. */
const agePattern = /(^|\s{2,})(?:(?:\d+[smhdy]){1,2}|<invalid>)(?=\s{2,}|$)/g;

/** A line as a page shows it: soon after the object was created. */
export function shownLine(line: string): string {
  return line
    .replaceAll(agePattern, (age, before: string) => `${before}5s`.padEnd(age.length))
    .trimEnd();
}

/**
 * Has a value what a page shows of it? Fields that the page leaves out may be there. Lists have the same length, unless the last element
 * shown is `...`. Within a text, `...` is anything.
 */
export function includesFields(actual: unknown, shown: unknown): boolean {
  if (typeof shown === 'string' && typeof actual === 'string') return fitsPattern(actual, shown);
  if (Array.isArray(shown)) return Array.isArray(actual) && includesElements(actual, shown);
  if (!isJsonObject(shown)) return actual === shown;
  if (!isJsonObject(actual)) return false;
  return Object.entries(shown).every(([key, value]) => includesFields(actual[key], value));
}

function includesElements(actual: readonly unknown[], shown: readonly unknown[]): boolean {
  const first = shown.at(-1) === '...' ? shown.slice(0, -1) : shown;
  const isComplete = first.length === shown.length;
  if (isComplete ? actual.length !== first.length : actual.length < first.length) return false;
  return first.every((each, at) => includesFields(actual[at], each));
}
