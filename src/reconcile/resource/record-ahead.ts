import type { ChildPlan } from '../../compile/index.ts';
import { conditionsOf } from '../../util/conditions-of.ts';
import { isJsonObject } from '../../util/json.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { entriesFor } from '../pass/inventory.ts';
import type { Pass } from '../pass/pass.ts';
import { ofResource } from '../secrecy.ts';
import { conditionTypesOf, isForeign, statusKeysOf } from '../status-fields.ts';
import { sendStatus } from './write-status.ts';

/**
 * Puts an object on record before it is made, where nothing else would tie it to the resource: a process that dies in between leaves
 * nothing behind that nobody knows of. Costs a request only for what was not on record: the first pass of a resource records all it
 * has made with its report, and until then labels do.
 * @returns what stands in the way: then it must not be made.
 */
export async function recordAhead(
  pass: Pass,
  plan: ChildPlan,
  identity: string,
): Promise<Problem | undefined> {
  const {
    context,
    found: { inventory },
  } = pass;
  // Where the status is not ours, the record was written with the finalizer.
  if (!plan.isDetached || isForeign(context.plan) || !inventory.isKept) return undefined;
  if (inventory.has(identity) || inventory.written.has(identity)) return undefined;
  return pass.did.recording.add(identity, (identities) => write(pass, identities));
}

/** The status as it is, with more on record. */
async function write(pass: Pass, identities: readonly string[]): Promise<Problem | undefined> {
  const {
    resource,
    context,
    found: { inventory },
  } = pass;
  const status = isJsonObject(resource.status) ? resource.status : {};
  const ours = statusKeysOf(context.plan).filter((field) => status[field] !== undefined);
  const types = conditionTypesOf(context.plan);
  const all = [...inventory.recorded.keys(), ...inventory.written, ...identities];
  const outcome = await sendStatus(pass, {
    ...Object.fromEntries(ours.map((field) => [field, status[field]])),
    conditions: conditionsOf(resource).filter(({ type }) => types.has(type)),
    childInventory: entriesFor(all),
  });
  switch (outcome.kind) {
    case 'written':
      inventory.noteWritten(identities);
      return undefined;
    case 'failed': {
      const problem = problemOfRequest(outcome.error, { about: ofResource(pass.context.plan) });
      return { ...problem, message: `inventory: ${problem.message}` };
    }
    default:
      return gone;
  }
}

const gone: Problem = {
  reason: 'Waiting',
  message: 'The resource is gone',
  code: 'waiting',
  kind: 'waiting',
};
