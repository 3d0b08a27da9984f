import { type Finding, type LocatedDefinition, valueAt } from '#definition';

/** The expression as written: positions count in it. */
export function textAt({ document }: LocatedDefinition, path: string): string {
  const text = valueAt(document, path);
  return typeof text === 'string' ? text : '';
}

/** The place and the words of the server's compiler. */
export function problemOf(
  message: string,
  text: string,
  what: 'rule' | 'default',
): Omit<Finding, 'path'> {
  const found = /ERROR: <input>:(\d+):(\d+): ([^\n]*)/.exec(message);
  const [, line = '1', column = '1', words] = found ?? [];
  const before = text.split('\n').slice(0, Number(line) - 1);
  const offset = before.reduce((sum, each) => sum + each.length + 1, 0) + Number(column) - 1;
  const reason = (words ?? message.replace(/^.*?Invalid value: "(?:[^"\\]|\\.)*": /s, '')).trim();
  const isSyntax = reason.startsWith('Syntax error');
  return {
    code: isSyntax
      ? 'expression-syntax'
      : reason.startsWith('undeclared')
        ? 'unknown-name'
        : 'wrong-type',
    at: Math.min(offset, text.length),
    message: `The API server rejects this ${what}: ${reason}`,
    ...(reason.startsWith('undeclared') && {
      hint: 'An expression has "object", "oldObject", "request" and "namespaceObject"',
    }),
  };
}
