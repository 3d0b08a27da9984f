import type { Diagnostic, LocatedDefinition } from '../../definition/index.ts';
import type { SourceText } from '../sources/index.ts';
import type { DefinitionOrigin, Refusal } from '../wanted-definition.ts';
import { withoutClashes } from '../without-clashes.ts';
import { linesOf } from './diagnostic-lines.ts';
import type { KnownDefinition } from './known-definition.ts';
import type { TextEntry, TextState } from './text-state.ts';

/** A definition that runs, and the text it is from. */
export interface Chosen {
  readonly name: string;
  readonly located: LocatedDefinition;
  readonly text: SourceText;
  /** What the text says now is not taken. */
  readonly refusal?: Refusal;
  /** It is taken, and something is to be said of it. @default none */
  readonly warnings?: readonly string[];
}

/** A version that may not run beside the others: its name, kind or status is another one's. */
export interface Outrun {
  readonly name: string;
  readonly located: LocatedDefinition;
  readonly text: SourceText;
  readonly diagnostic: Diagnostic;
}

export interface ChooseOptions {
  /** In the order of the sources, and in each of its own. */
  readonly texts: readonly TextState[];
  /** What ran until now, by name. */
  readonly running: ReadonlyMap<string, Chosen>;
  /** Whose the names are. */
  readonly holders: ReadonlyMap<string, DefinitionOrigin>;
  readonly known: ReadonlyMap<string, KnownDefinition>;
}

export interface Choice {
  /** One for each name, by age. */
  readonly chosen: readonly Chosen[];
  readonly outrun: readonly Outrun[];
  /** Clashes that the cluster decides. */
  readonly warnings: readonly Diagnostic[];
}

/** One text's claim on a name. */
interface Claim extends Chosen {
  readonly position: number;
}

/**
 * What is to run of all texts. A name belongs to the text that has it, or had it when it was last recorded, else to the oldest one; of what
 * definitions of different names cannot share (a CRD, a status) nobody loses anything to one who comes later. Whoever loses with its
 * newest version goes on with the one that ran. Pure.
 */
export function chooseDefinitions(options: ChooseOptions): Choice {
  const claims = claimsOf(options);
  const holders = new Map<string, Claim>();
  for (const claim of claims.toSorted((a, b) => compareClaims(a, b, options)))
    if (!holders.has(claim.name)) holders.set(claim.name, claim);
  const outrun = claims.flatMap((claim): readonly Outrun[] => {
    const holder = holders.get(claim.name);
    return holder === undefined || holder === claim ? [] : [nameTaken(claim, holder)];
  });
  const settled = settleClashes([...holders.values()], options);
  return { ...settled, outrun: [...outrun, ...settled.outrun] };
}

type Mentioned = Pick<Claim, 'name' | 'text' | 'position'>;

/** A name that stands in a text, or may. */
interface Mention extends Mentioned {
  readonly entry: TextEntry;
}

function claimsOf(options: ChooseOptions): readonly Claim[] {
  const mentions = options.texts
    .flatMap((state) =>
      [...state.entries.keys(), ...recordedNames(state, options)].map((name) => {
        const entry = state.entries.get(name) ?? lostEntry(state);
        return { name, text: state.text, entry };
      }),
    )
    .map((mention, position): Mention => ({ ...mention, position }));
  const claims = mentions.flatMap((mention) => claimOf(mention, ownVersion(mention, options)));
  const claimed = new Set(claims.map(({ name }) => name));
  const heirs = mentions
    .filter(({ name }) => !claimed.has(name))
    .toSorted((a, b) => compareClaims(a, b, options))
    .filter(isFirstOfName)
    .flatMap((mention) => claimOf(mention, leftVersion(mention, options)));
  return [...claims, ...heirs];
}

function claimOf(
  { name, text, entry: { refusal, warnings }, position }: Mention,
  located: LocatedDefinition | undefined,
): readonly Claim[] {
  if (located === undefined) return [];
  return [
    { name, located, text, position, ...(refusal && { refusal }), ...(warnings && { warnings }) },
  ];
}

/** What the text says, or what ran of it while that has a mistake. */
function ownVersion(
  { name, text: { origin }, entry: { good, refusal } }: Mention,
  { running, known }: ChooseOptions,
): LocatedDefinition | undefined {
  if (refusal === undefined) return good;
  const last = running.get(name);
  const recorded = known.get(name);
  const ran = isSameOrigin(last?.text.origin, origin) ? last?.located : undefined;
  const onRecord = isSameOrigin(recorded?.origin, origin) ? recorded?.formerly?.[0] : undefined;
  return ran ?? good ?? onRecord;
}

/** What ran last wherever it stood: a text that has nothing but mistakes, and takes the place of another one, goes on with it. */
function leftVersion(
  { name }: Mention,
  { running, known }: ChooseOptions,
): LocatedDefinition | undefined {
  return running.get(name)?.located ?? known.get(name)?.formerly?.[0];
}

function isFirstOfName({ name }: Mention, index: number, all: readonly Mention[]): boolean {
  return all.findIndex((each) => each.name === name) === index;
}

/** Names that run, or are on record, as this text's, and may still stand in it though they cannot be read. */
function recordedNames(
  state: TextState,
  { known, running }: Pick<ChooseOptions, 'known' | 'running'>,
): readonly string[] {
  const isOfText = (name: string) =>
    isSameOrigin(running.get(name)?.text.origin ?? known.get(name)?.origin, state.text.origin);
  const mayHide =
    !state.isWhole || state.strangers.some((name) => name === undefined || !isOfText(name));
  if (!mayHide) return [];
  const names = new Set([...known.keys(), ...running.keys()]);
  return [...names].filter((name) => isOfText(name) && !state.entries.has(name));
}

function lostEntry({ refused }: TextState): TextEntry {
  const diagnostics = refused.flatMap(({ refusal }) => refusal.diagnostics);
  return {
    refusal: {
      message: 'It cannot be found in the newest text, which has mistakes',
      diagnostics: [...new Set(diagnostics)],
    },
  };
}

/** Who has the name comes first, then who is older, then who is read first. */
function compareClaims(a: Mentioned, b: Mentioned, options: ChooseOptions): number {
  return (
    holdOf(b, options) - holdOf(a, options) ||
    a.text.sinceMs - b.text.sinceMs ||
    a.position - b.position
  );
}

/** How sure it is that the name is this text's. */
function holdOf({ name, text }: Mentioned, { holders, known }: ChooseOptions): number {
  const recorded = known.get(name)?.origin;
  return Number(isSameOrigin(holders.get(name) ?? recorded, text.origin));
}

function isSameOrigin(a: DefinitionOrigin | undefined, b: DefinitionOrigin): boolean {
  return a !== undefined && a.source === b.source && a.ref === b.ref;
}

function nameTaken({ name, located, text }: Claim, holder: Claim): Outrun {
  const place = located.source.valueAt('/metadata/name');
  const { line } = holder.located.source.valueAt('/metadata/name');
  const diagnostic: Diagnostic = {
    severity: 'error',
    code: 'duplicate-id',
    message: `The name "${name}" is served by another definition already`,
    hint: `The first one is at ${holder.text.file}:${line}`,
    file: text.file,
    ...place,
    path: '/metadata/name',
  };
  return { name, located, text, diagnostic };
}

/** Takes the version that ran of whoever clashes with its newest one, until nobody clashes any more. */
function settleClashes(
  holders: readonly Claim[],
  options: ChooseOptions,
): { chosen: readonly Chosen[]; outrun: readonly Outrun[]; warnings: readonly Diagnostic[] } {
  const lastOf = ({ name }: Chosen) =>
    options.running.get(name)?.located ?? options.known.get(name)?.formerly?.[0];
  const outrun: Outrun[] = [];
  let rivals: readonly Claim[] = holders;
  for (;;) {
    const { accepted, lost, clashes } = withoutClashes(inOrder(rivals, lastOf), 'cluster');
    for (const [{ name, located, text }, diagnostic] of lost)
      outrun.push({ name, located, text, diagnostic });
    const replaced = rivals.map((rival) => {
      const diagnostic = lost.get(rival);
      return diagnostic === undefined ? rival : withLast(rival, lastOf(rival), diagnostic);
    });
    if (replaced.every((each, index) => each === rivals[index])) {
      const warnings = clashes.filter(({ severity }) => severity === 'warning');
      const chosen = accepted.toSorted(byAge).map(({ position: _, ...each }) => each);
      return { chosen, outrun: distinct(outrun), warnings };
    }
    rivals = replaced;
  }
}

/** Who goes on as before gives nothing away; then those that have changed, then those that are new. */
function inOrder(
  rivals: readonly Claim[],
  lastOf: (claim: Chosen) => LocatedDefinition | undefined,
): readonly Claim[] {
  const rankOf = (claim: Claim) => {
    const last = lastOf(claim);
    if (last === undefined) return 2;
    return last.definition.revision === claim.located.definition.revision ? 0 : 1;
  };
  return rivals.toSorted((a, b) => rankOf(a) - rankOf(b) || byAge(a, b));
}

function byAge(a: Claim, b: Claim): number {
  return a.text.sinceMs - b.text.sinceMs || a.position - b.position;
}

function withLast(
  claim: Claim,
  last: LocatedDefinition | undefined,
  diagnostic: Diagnostic,
): Claim {
  const { revision } = claim.located.definition;
  if (last === undefined || last.definition.revision === revision) return claim;
  const refusal: Refusal = {
    revision,
    message: diagnostic.message,
    diagnostics: linesOf(claim.text, [diagnostic]),
  };
  return { ...claim, located: last, refusal: claim.refusal ?? refusal };
}

/** The last round finds again what the first ones have found. */
function distinct(outrun: readonly Outrun[]): readonly Outrun[] {
  return [...new Map(outrun.map((each) => [each.located, each])).values()];
}
