import type { StoredObject } from '../../kube/roles.ts';
import type { Intent } from '../intent/intent.ts';
import { intentHash, intentHashOf } from '../intent/intent-hash.ts';
import { appliedHashOf } from '../intent/stamp.ts';
import type { Pass } from '../pass/pass.ts';
import { compareIntent } from './compare-intent.ts';
import type { WantedElement } from './element-result.ts';

/** The hash of an intent, what is left to others included. */
export function hashOfIntent({ uid }: Pass, { whole, manifest }: Intent): string {
  return intentHash(whole ?? manifest, uid);
}

/**
 * Has the intent changed since the object was made, or is only the object different? An object that does not say what it was made of is
 * taken for changed by others: it is mended, and says so from then on.
 */
export function hasNewIntent(pass: Pass, wanted: WantedElement, live: StoredObject): boolean {
  const { intent } = wanted;
  const made = intentHashOf(live.object);
  if (made === undefined || made === hashOfIntent(pass, intent)) return false;
  // Where all that is wanted is there, only the way in which we write it down has changed.
  const comparison = compareIntent(pass, { plan: wanted.plan, intent, live });
  if (comparison.kind === 'same') return false;
  const applied = appliedHashOf(live.object);
  return comparison.found.length > 0 || (applied !== undefined && applied !== intent.pathHash);
}
