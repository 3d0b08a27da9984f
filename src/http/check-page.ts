import type { Check } from './readiness.ts';

/** What a probe asks for. */
export interface CheckQuery {
  /** `?verbose` */
  readonly isVerbose: boolean;
  /** `?exclude=name`, any number of times. */
  readonly excluded: readonly string[];
}

export interface CheckPage {
  readonly status: 200 | 503;
  readonly text: string;
}

/** The answer to a probe, in the words of the API server's own health checks. `details`: lines that follow the checks. */
export function checkPage(
  title: string,
  checks: readonly Check[],
  { isVerbose, excluded, details = [] }: CheckQuery & { readonly details?: readonly string[] },
): CheckPage {
  const counted = checks.filter(({ name }) => !excluded.includes(name));
  const isWell = counted.every(({ failure }) => failure === undefined);
  const status = isWell ? 200 : 503;
  if (isWell && !isVerbose) return { status, text: 'ok\n' };
  const lines = [
    ...checks.map((check) => lineOf(check, excluded.includes(check.name))),
    ...details.map((detail) => `  ${detail}`),
    ...warnings(checks, excluded),
    `${title} check ${isWell ? 'passed' : 'failed'}`,
  ];
  return { status, text: `${lines.join('\n')}\n` };
}

function lineOf({ name, failure }: Check, isExcluded: boolean): string {
  if (isExcluded) return `[+]${name} excluded: ${failure ?? 'ok'}`;
  return failure === undefined ? `[+]${name} ok` : `[-]${name} failed: ${failure}`;
}

function warnings(checks: readonly Check[], excluded: readonly string[]): readonly string[] {
  const unknown = excluded.filter((name) => !checks.some((check) => check.name === name));
  return unknown.map((name) => `warn: there is no check "${name}" to exclude`);
}
