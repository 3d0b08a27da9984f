import { RE2JS } from 're2js';

/** Why a pattern is none for RE2, in the words of Go: `error parsing regexp: missing closing ): ...`; undefined = it is one. */
export function patternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    // Whatever the engine throws, it is what it has against the pattern.
    const said = error instanceof Error ? error.message : String(error);
    const text = said.endsWith('`') ? said : `${said}: \`\``;
    return text.startsWith('error parsing regexp: ') ? text : `error parsing regexp: ${text}`;
  }
}
