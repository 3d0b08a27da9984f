import type { DefinitionView, RuntimeView } from '../runtime/index.ts';

/**
 * What runs, for people: `[+]` is well, `[!]` has something in its way that is its own, `[-]` is not there yet. Several things in
 * the way stand on lines of their own.
 */
export function viewLines(view: RuntimeView): readonly string[] {
  const { definitions, refused, warnings, follows } = view;
  return [
    ...(follows === undefined ? [] : [`[+]follower: ${follows} leads`]),
    ...definitions.flatMap(definitionLines),
    ...refused.flatMap(({ file, diagnostics }) => entry(`[!]${file} refused`, diagnostics)),
    ...warnings.map((warning) => `[!]${warning}`),
  ];
}

function definitionLines(view: DefinitionView): readonly string[] {
  const hindrances = hindrancesOf(view);
  const title = `${markOf(view.state.kind, hindrances.length > 0)}${view.name} ${view.state.kind}`;
  return entry(title, [...hindrances, ...progressOf(view)]);
}

/** What is in its way. */
function hindrancesOf(view: DefinitionView): readonly string[] {
  const { state, problems, refusal, rollout, isPaused, removal } = view;
  const isStuck = rollout?.state === 'held' || rollout?.state === 'stopped';
  return [
    ...whyOf(state, problems),
    ...(isPaused ? ['paused: nothing is done for its resources'] : []),
    ...(removal === undefined ? [] : [`being removed: ${removal}`]),
    ...(refusal === undefined
      ? []
      : [`a newer text is refused: ${refusal.message}`, ...refusal.diagnostics]),
    ...(isStuck ? [`roll-out ${rollout.state}: ${rollout.message}`] : []),
  ];
}

/** What goes on, and needs nobody. */
function progressOf({ next, rollout }: DefinitionView): readonly string[] {
  const isMoving = rollout?.state === 'previewing' || rollout?.state === 'rolling';
  return [
    ...(next === undefined ? [] : [`revision ${next.revision} is on its way: ${next.message}`]),
    ...(isMoving ? [`roll-out ${rollout.state}: ${rollout.message}`] : []),
  ];
}

function whyOf(state: DefinitionView['state'], problems: readonly string[]): readonly string[] {
  if (state.kind === 'refused') return [state.message, ...state.diagnostics];
  return 'message' in state ? [state.message] : problems;
}

function entry(title: string, details: readonly string[]): readonly string[] {
  const [first] = details;
  if (first === undefined) return [title];
  if (details.length === 1) return [`${title}: ${first}`];
  return [`${title}:`, ...details.map((detail) => `     - ${detail}`)];
}

function markOf(kind: DefinitionView['state']['kind'], isHindered: boolean): string {
  if (kind === 'starting' || kind === 'syncing') return '[-]';
  return isHindered || kind !== 'running' ? '[!]' : '[+]';
}
