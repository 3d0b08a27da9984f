import type { ElementResult, Pass } from '../pass/pass.ts';
import { objectText } from '../secrecy.ts';
import { cachedObject } from './cached-object.ts';
import { isUnreachable } from './element-result.ts';
import { isReadyNow } from './readiness.ts';
import type { ResolvedElement } from './resolve-child.ts';
import type { Sequence } from './sequence.ts';

/** Creates an element once the previous one is ready. */
export const applyOrdered: Sequence = async (pass, { elements }, applier) => {
  const results: ElementResult[] = [];
  let before: ElementResult | undefined;
  for (const each of elements) {
    const result = await applier.apply(each, await waitOf(pass, each, before));
    results.push(result);
    if (!isUnreachable(result)) before = result;
  }
  return results;
};

/** What a missing element waits for; undefined: it may be created. */
async function waitOf(
  pass: Pass,
  each: ResolvedElement,
  before: ElementResult | undefined,
): Promise<string | undefined> {
  if (before === undefined || each.kind !== 'rendered') return undefined;
  if (cachedObject(pass, each.intent) !== undefined || (await isReadyNow(pass, before)))
    return undefined;
  return before.name === ''
    ? 'the previous element to be ready'
    : `${objectText(before.plan.gvk.kind, before.name, before.plan)} to be ready`;
}
