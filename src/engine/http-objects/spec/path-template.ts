import { errorAt, type SpecProblem } from './problem.ts';

/** A parsed path: literal texts and names of parameters. */
export interface PathTemplate {
  readonly source: string;
  readonly parts: readonly (string | { readonly name: string })[];
}

/** Values of parameters, as texts. `id` and `metadata.*` are among them. */
export type PathValues = Readonly<Record<string, string | undefined>>;

/** The parameters of every path besides `params`. */
export const metadataParameters = ['metadata.name', 'metadata.namespace', 'metadata.uid'] as const;

/** Longest rendered path, in characters. */
const maxLength = 2048;
const parameter = /\{([A-Za-z][\w.-]*)\}/g;
/** What a literal part may consist of: unreserved and reserved characters of a path, and escapes. */
const literal = /^(?:[A-Za-z0-9/._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*$/;

/** Parses a path, or returns why it is not valid. `known` are the names of the parameters. Pure. */
export function parsePath(
  source: string,
  path: string,
  known: readonly string[],
): { readonly template: PathTemplate } | { readonly problem: SpecProblem } {
  const problem = (message: string, hint?: string) => ({ problem: errorAt(path, message, hint) });
  if (source.includes('${') || source.includes('{{'))
    return {
      problem: {
        ...errorAt(
          path,
          'Expected a literal path, found a computed one',
          known.length === 0
            ? undefined
            : 'Put computed values into "params", and write "{name}" in the path',
        ),
        code: 'forbidden-expression',
      },
    };
  if (!source.startsWith('/'))
    return problem(
      `Expected a path that begins with "/", found "${source}"`,
      isSafePath(`/${source.replace(parameter, 'x')}`) ? `Write "/${source}"` : undefined,
    );
  const parts: PathTemplate['parts'][number][] = [];
  let end = 0;
  for (const match of source.matchAll(parameter)) {
    const [whole, name = ''] = match;
    if (!known.includes(name))
      return problem(
        `Expected a parameter of "params", "id" or "metadata" in the path, found "{${name}}"`,
        `Known: ${known.join(', ')}`,
      );
    parts.push(source.slice(end, match.index), { name });
    end = match.index + whole.length;
  }
  parts.push(source.slice(end));
  const wrong = parts.find((part) => typeof part === 'string' && !literal.test(part));
  if (wrong !== undefined)
    return problem(
      `Expected a literal path with "{name}" for parameters, found "${source}"`,
      'Use "query" for a query',
    );
  const texts = parts.filter((part) => part !== '');
  const sample = texts.map((part) => (typeof part === 'string' ? part : 'x')).join('');
  if (!isSafePath(sample))
    return problem(`Expected a path without ".." and "//", found "${source}"`);
  return { template: { source, parts: texts } };
}

/** Names of the parameters of a path. */
export function parametersOf({ parts }: PathTemplate): readonly string[] {
  return parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
}

/**
 * A path with its parameters encoded, or why it has none. `{id}` stays: the id is known later. `slashesIn`: parameters whose values may
 * contain slashes. Pure.
 */
export function renderPath(
  { parts, source }: PathTemplate,
  values: PathValues,
  slashesIn: readonly string[] = [],
): { readonly path: string } | { readonly failure: string } {
  let path = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      path += part;
      continue;
    }
    if (part.name === 'id') {
      path += '{id}';
      continue;
    }
    const value = values[part.name];
    if (value === undefined) return { failure: `The parameter "${part.name}" has no value` };
    const failure = valueFailure(part.name, value, slashesIn);
    if (failure !== undefined) return { failure: failure.filter(Boolean).join('. ') };
    path += encodeURIComponent(value);
  }
  if (path.length > maxLength)
    return { failure: `Expected at most ${maxLength} characters in the path "${source}"` };
  if (!isSafePath(path.replaceAll('{id}', 'x')))
    return { failure: `The path "${source}" names no location of its own` };
  return { path };
}

/**
 * Whether a path stays where it is written: servers and proxies decode and normalise paths in different ways, so no segment may
 * be `.` or `..` in any of them, and none is empty. Pure.
 */
export function isSafePath(path: string): boolean {
  if (!path.startsWith('/') || !literal.test(path)) return false;
  const segments = path.split('/').slice(1);
  // A path may end with "/".
  const inner = segments.at(-1) === '' ? segments.slice(0, -1) : segments;
  return inner.every((segment) => {
    if (segment === '') return false;
    const decoded = textOf(segment);
    return decoded !== undefined && isSafeValue(decoded);
  });
}

/** Why a value cannot be that of a parameter of a path: a message and a hint. Undefined: it can. Pure. */
export function valueFailure(
  name: string,
  value: string,
  slashesIn: readonly string[],
): readonly [string, string?] | undefined {
  if (!isSafeValue(value))
    return [
      `Expected a value of the parameter "${name}" that is no relative path, and not empty, also when it is decoded again`,
    ];
  if (slashesIn.includes(name) || !formsOf(value).some((form) => /[/\\]/.test(form)))
    return undefined;
  return [
    `Expected a value of the parameter "${name}" without slashes: some servers decode "%2F" before they route`,
    `If this API does not, add "slashesIn: [${name}]"`,
  ];
}

/**
 * Not empty, no `.` or `..` between slashes of either kind, no control characters and halves of characters. Servers and proxies may decode
 * or normalise a value again, so this holds for all texts that it becomes then.
 */
export function isSafeValue(value: string): boolean {
  return value !== '' && value.length <= maxLength && formsOf(value).every(isSafeForm);
}

function isSafeForm(form: string): boolean {
  if (/[\p{Cc}\p{Cs}]/u.test(form)) return false;
  // Some servers ignore what follows a semicolon.
  return !form.split(/[/\\]/).some((part) => /^\.{1,2}(?:;|$)/.test(part));
}

/** A value, and what it becomes when it is decoded again and again, each also with compatible characters replaced: `．` is `.`. */
function formsOf(value: string): readonly string[] {
  const forms: string[] = [];
  for (let form = value; forms.at(-1) !== form; form = decodedOnce(form)) forms.push(form);
  return [...forms, ...forms.map((form) => form.normalize('NFKC'))];
}

/** ASCII only: other characters are no part of the syntax of a path. */
function decodedOnce(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function textOf(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
