import type { DefinitionView, RuntimeView } from '#runtime';

/** One readiness check. */
export interface Check {
  /** As in `/readyz/<name>`. */
  readonly name: string;
  /** Why it fails. Undefined: it passes. */
  readonly failure?: string;
}

/** The API server may be unreachable for this long: a restart of it does not make the process unready. */
const unreachableToleranceMs = 15_000;

/**
 * The readiness checks, in the order in which they pass at startup. A definition that is invalid, fails or lacks a
 * right does not affect readiness: neither a restart nor another replica would help.
 */
export function readinessChecks(view: RuntimeView): readonly Check[] {
  return [
    check('api-server', apiServerFailure(view)),
    check('definitions', unreadSources(view) ?? startingDefinitions(view)),
    check('informers', syncingDefinitions(view)),
    check('shutdown', view.isStopping ? 'the process is stopping' : undefined),
  ];
}

function check(name: string, failure: string | undefined): Check {
  return failure === undefined ? { name } : { name, failure };
}

function apiServerFailure({ unreachable }: RuntimeView): string | undefined {
  if (unreachable === undefined || unreachable.forMs < unreachableToleranceMs) return undefined;
  const seconds = Math.floor(unreachable.forMs / 1_000);
  if (unreachable.kind === 'unreachable') return `no response for ${seconds} s`;
  return `credentials rejected for ${seconds} s; renew the token or certificate of the kubeconfig or service account`;
}

/** Sources that were not read yet may contain all definitions. */
function unreadSources({ unreadSources: unread = [] }: RuntimeView): string | undefined {
  return unread.length === 0 ? undefined : `not read yet: ${unread.join(', ')}`;
}

function startingDefinitions({ definitions }: RuntimeView): string | undefined {
  const found = definitions.flatMap(({ name, state }) =>
    state.kind === 'starting' ? [`${name} (${state.message})`] : [],
  );
  return found.length === 0 ? undefined : `starting: ${found.join(', ')}`;
}

function syncingDefinitions({ definitions }: RuntimeView): string | undefined {
  const names = definitions.filter(({ state }) => state.kind === 'syncing').map(({ name }) => name);
  return names.length === 0 ? undefined : `syncing: ${names.join(', ')}`;
}

/** Query parameters of a probe. */
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

/** The response to a probe, in the format of the API server's health checks. `details`: lines after the checks. */
export function checkPage(
  title: string,
  checks: readonly Check[],
  { isVerbose, excluded, details = [] }: CheckQuery & { readonly details?: readonly string[] },
): CheckPage {
  const counted = checks.filter(({ name }) => !excluded.includes(name));
  const passed = counted.every(({ failure }) => failure === undefined);
  const status = passed ? 200 : 503;
  if (passed && !isVerbose) return { status, text: 'ok\n' };
  const lines = [
    ...checks.map((check) => lineOf(check, excluded.includes(check.name))),
    ...details.map((detail) => `  ${detail}`),
    ...warnings(checks, excluded),
    `${title} check ${passed ? 'passed' : 'failed'}`,
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

/**
 * State of the definitions for people: `[+]` running, `[!]` running or stopped with problems, `[-]` not ready yet.
 * Several problems are listed on separate lines.
 */
export function viewLines(view: RuntimeView): readonly string[] {
  const { definitions, rejected, warnings, leader } = view;
  return [
    ...(leader === undefined ? [] : [`[+]follower: the leader is ${leader}`]),
    ...definitions.flatMap(definitionLines),
    ...rejected.flatMap(({ file, diagnostics }) => formatEntry(`[!]${file} rejected`, diagnostics)),
    ...warnings.map((warning) => `[!]${warning}`),
  ];
}

function definitionLines(view: DefinitionView): readonly string[] {
  const problems = problemsOf(view);
  const title = `${markOf(view.state.kind, problems.length > 0)}${view.name} ${view.state.kind}`;
  return formatEntry(title, [...problems, ...progressOf(view)]);
}

/** Problems of a definition. */
function problemsOf(view: DefinitionView): readonly string[] {
  const { state, problems, rejection, rollout, isPaused } = view;
  const isStuck = rollout?.state === 'held' || rollout?.state === 'stopped';
  return [
    ...stateProblems(state, problems),
    ...(isPaused ? ['paused: its resources are not reconciled'] : []),
    ...(rejection === undefined
      ? []
      : [`a newer manifest is rejected: ${rejection.message}`, ...rejection.diagnostics]),
    ...(isStuck ? [`rollout ${rollout.state}: ${rollout.message}`] : []),
  ];
}

/** Progress that needs no action. */
function progressOf({ next, rollout }: DefinitionView): readonly string[] {
  const isMoving = rollout?.state === 'previewing' || rollout?.state === 'rolling';
  return [
    ...(next === undefined ? [] : [`revision ${next.revision} is starting: ${next.message}`]),
    ...(isMoving ? [`rollout ${rollout.state}: ${rollout.message}`] : []),
  ];
}

function stateProblems(
  state: DefinitionView['state'],
  problems: readonly string[],
): readonly string[] {
  if (state.kind === 'rejected') return [state.message, ...state.diagnostics];
  return 'message' in state ? [state.message] : problems;
}

function formatEntry(title: string, details: readonly string[]): readonly string[] {
  const [first] = details;
  if (first === undefined) return [title];
  if (details.length === 1) return [`${title}: ${first}`];
  return [`${title}:`, ...details.map((detail) => `     - ${detail}`)];
}

function markOf(kind: DefinitionView['state']['kind'], hasProblems: boolean): string {
  if (kind === 'starting' || kind === 'syncing') return '[-]';
  return hasProblems || kind !== 'running' ? '[!]' : '[+]';
}
