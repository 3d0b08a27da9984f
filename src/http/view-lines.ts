import type { DefinitionView, RuntimeView } from '../runtime/index.ts';

/**
 * What runs, for people: `[+]` is well, `[!]` has something in its way that is its own, `[-]` is not there yet. Several things in
 * the way stand on lines of their own.
 */
export function viewLines({ definitions, refused, warnings }: RuntimeView): readonly string[] {
  return [
    ...definitions.flatMap(definitionLines),
    ...refused.flatMap(({ file, diagnostics }) => entry(`[!]${file} refused`, diagnostics)),
    ...warnings.map((warning) => `[!]${warning}`),
  ];
}

function definitionLines({ name, state, problems }: DefinitionView): readonly string[] {
  const why = whyOf(state, problems);
  return entry(`${markOf(state.kind, why.length > 0)}${name} ${state.kind}`, why);
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
