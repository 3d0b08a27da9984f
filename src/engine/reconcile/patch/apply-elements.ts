import type { PatchElement, RenderedPatch, TargetNames } from '#compile';
import type { RefAt } from '#kube/roles.ts';
import { type Problem, problemOfValue } from '../failure.ts';
import { identityOfRef } from '../identity.ts';
import type { Pass } from '../pass/pass.ts';
import { isNamePublic } from '../secrecy.ts';
import {
  type PatchOfPass,
  type PreparedPatch,
  prepareTarget,
  problemOfPatch,
  problemOfUnknown,
  sendPrepared,
  withKind,
} from './apply-target.ts';
import type { NewClaim, PatchClaims } from './patch-claims.ts';
import { type PatchTarget, type PatchWithKind, targetOf } from './patch-target.ts';
import { forgetSent, isSentFor, markSent, sentKeyOf } from './sent-values.ts';
import { withdrawUnwanted } from './withdraw-patch.ts';

/** An element whose target is known. */
export interface TargetElement {
  readonly index: number;
  readonly plan: PatchWithKind;
  readonly rendered: RenderedPatch;
  readonly target: PatchTarget;
}

export interface TargetElements {
  readonly found: readonly TargetElement[];
  readonly problems: readonly Problem[];
  /** The targets of all elements, also of those that are not sent. Undefined: one of them is not known. */
  readonly targets: readonly RefAt[] | undefined;
}

interface ElementsOptions {
  readonly elements: readonly PatchElement[];
  readonly claims: PatchClaims;
}

/**
 * Applies a patch with `forEach`. What an element is found by is its target: it may move in the list. The claims of all elements are recorded
 * in one request before any is sent. An element without a value keeps its own claims only.
 */
export async function applyElements(
  pass: Pass,
  written: PatchOfPass,
  { elements, claims }: ElementsOptions,
): Promise<readonly Problem[]> {
  const { found, problems, targets } = findTargets(pass, written, { elements, claims });
  const unsent = found.filter(
    ({ plan, rendered: { once }, target }) =>
      once === undefined || !isSentFor(pass, sentKeyOf(plan, target.ref), once),
  );
  const prepared = await prepareAll(pass, unsent);
  const blocker = await recordClaims(pass, written, { prepared: prepared.ready, claims });
  const sent = blocker === undefined ? await sendAll(pass, prepared.ready, claims) : [];
  const all = [...problems, ...prepared.problems, ...(blocker ?? []), ...sent];
  if (targets === undefined || !written.hasOnce) return distinct(all);
  const plan = withKind(pass, written, {});
  const keys = new Set(targets.map((ref) => sentKeyOf(plan, ref)));
  const unforgotten = await forgetSent(pass, written, keys);
  return distinct(unforgotten === undefined ? all : [...all, unforgotten]);
}

/**
 * The targets of the elements. Two elements with the same target both fail, as elements of a child do.
 * @param claims of a patch that is withdrawn: what the elements want
 */
export function findTargets(
  pass: Pass,
  written: PatchOfPass,
  {
    elements,
    claims,
  }: { readonly elements: readonly PatchElement[]; readonly claims?: PatchClaims },
): TargetElements {
  const found: TargetElement[] = [];
  const problems: Problem[] = [];
  const unsent: (RefAt | undefined)[] = [];
  const withdraws = written.owned?.withdraws === true;
  const { isList } = written;
  for (const [index, { target: names, patch }] of elements.entries()) {
    if (patch.kind === 'value') {
      const plan = withKind(pass, written, patch.value);
      const target = targetOf(pass, plan, patch.value);
      if (!('reason' in target)) {
        if (withdraws) claims?.want(plan, identityOfRef(target.ref));
        found.push({ index, plan, rendered: patch.value, target });
        continue;
      }
      problems.push(problemOfPatch(plan, target, isList ? index : undefined));
    } else if (patch.kind === 'waiting' && isList) problems.push(problemOfUnknown(patch));
    else if (patch.kind !== 'missing')
      problems.push(problemOfPatch(written, problemOfUnknown(patch), isList ? index : undefined));
    unsent.push(names && refOf(pass, written, names));
    if (names?.name === undefined) claims?.keepAllOf(written);
    else claims?.keepNamed(written, names.name);
  }
  const uses = new Map<string, number>();
  for (const { target } of found) {
    const identity = identityOfRef(target.ref);
    uses.set(identity, (uses.get(identity) ?? 0) + 1);
  }
  const isDuplicate = ({ target }: TargetElement) => (uses.get(identityOfRef(target.ref)) ?? 0) > 1;
  const distinctOnes = found.filter((each) => !isDuplicate(each));
  for (const each of found.filter(isDuplicate)) problems.push(duplicate(each));
  const others = unsent.flatMap((ref) => ref ?? []);
  const isWhole = others.length === unsent.length;
  const targets = isWhole ? [...found.map(({ target }) => target.ref), ...others] : undefined;
  return { found: distinctOnes, problems, targets };
}

/** Undefined: it may not be patched. */
function refOf(pass: Pass, written: PatchOfPass, names: TargetNames): RefAt | undefined {
  const target = targetOf(pass, withKind(pass, written, {}), names);
  return 'reason' in target ? undefined : target.ref;
}

function duplicate({ plan, target: { ref } }: TargetElement): Problem {
  const message = isNamePublic(plan)
    ? `target.name: "${ref.name}" is used by two elements`
    : 'target.name: Expected a target for each element, found one that is used by two';
  return problemOfPatch(plan, problemOfValue(message, 'duplicate-name'));
}

interface PreparedElement {
  readonly index: number;
  readonly patch: PreparedPatch;
}

async function prepareAll(
  pass: Pass,
  elements: readonly TargetElement[],
): Promise<{ readonly ready: readonly PreparedElement[]; readonly problems: readonly Problem[] }> {
  const others = elements.filter(({ target }) => !target.isSelf);
  // All watches start before the first is waited for.
  if (others.length > 0)
    await pass.context.watches.prepareNamed(
      others.map(({ target }) => target.ref),
      pass.signal,
    );
  const ready: PreparedElement[] = [];
  const problems: Problem[] = [];
  for (const { index, plan, rendered, target } of elements) {
    const patch = await prepareTarget(pass, { plan, rendered, target });
    if ('reason' in patch) problems.push(problemOfPatch(plan, patch, index));
    else ready.push({ index, patch });
  }
  return { ready, problems };
}

/** Records that the elements may own fields. Returns the errors, if they may not be sent. */
async function recordClaims(
  pass: Pass,
  written: PatchOfPass,
  {
    prepared,
    claims,
  }: { readonly prepared: readonly PreparedElement[]; readonly claims: PatchClaims },
): Promise<readonly Problem[] | undefined> {
  if (written.owned?.withdraws !== true || prepared.length === 0) return undefined;
  const all = prepared.flatMap(({ patch: { plan, intent, state } }): readonly NewClaim[] =>
    state.kind === 'stale'
      ? []
      : [{ patch: plan, identity: identityOfRef(intent.ref), digest: intent.pathHash }],
  );
  const problems: Problem[] = [];
  if (claims.limitOf(all) !== undefined) {
    // What is no longer wanted makes room: a list may have been replaced by another one.
    problems.push(...(await withdrawUnwanted(pass, claims, written.id)));
    const unsaved = await claims.save();
    if (unsaved !== undefined) problems.push(unsaved);
  }
  const problem = claims.limitOf(all) ?? (await claims.recordAll(all));
  if (problem === undefined) return undefined;
  return [...problems, problemOfPatch(written, problem)];
}

async function sendAll(
  pass: Pass,
  elements: readonly PreparedElement[],
  claims: PatchClaims,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const { index, patch } of elements) {
    const { plan, rendered, target } = patch;
    const problem = await sendPrepared(pass, patch, claims);
    if (problem !== undefined) problems.push(problemOfPatch(plan, problem, index));
    else if (rendered.once !== undefined && patch.state.kind !== 'stale') {
      const unmarked = await markSent(pass, sentKeyOf(plan, target.ref), rendered.once);
      if (unmarked !== undefined) problems.push(unmarked);
    }
  }
  return problems;
}

/** Elements often wait for the same read. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((problem) => [problem.message, problem])).values()];
}
