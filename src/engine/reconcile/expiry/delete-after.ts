import { type Problem, problemOfRender, problemOfWaiting } from '../failure.ts';
import { kindAt, refTo } from '../identity.ts';
import { isChild } from '../ownership/is-child.ts';
import type { Feature, Outdated } from '../pass/feature.ts';
import {
  clusterWrite,
  emitEvent,
  type Pass,
  problemOfResource,
  requestError,
} from '../pass/pass.ts';
import type { PruneCandidate } from '../prune-candidate.ts';
import { pruneCandidatesOf } from '../removal/removal-rules.ts';

/**
 * Deletes a resource some time after another time (`deleteAfter`). It is what the definition no longer keeps: so a guard that holds the
 * deletions of a changed definition holds it, too, and previews count it. Its expressions see the stored status, which other clients have
 * seen as well.
 */
export function createDeleteAfter(): Feature {
  const failures = new WeakMap<Pass, Problem>();

  async function outdated(pass: Pass): Promise<Outdated | undefined> {
    const time = await pass.desiredPhase.deletionTime();
    if (time.kind === 'failed') failures.set(pass, problemOfRender(time.failure));
    if (time.kind !== 'value') return undefined;
    const { atMs, text } = time.value;
    const why = text ?? 'after its time to live';
    if (atMs > Date.parse(pass.phaseInput.now)) {
      pass.phaseInput.flips.changesAt(atMs);
      return undefined;
    }
    return {
      candidates: candidatesOf(pass),
      remove: () => deleteResource(pass, why),
      kept(reason) {
        const message = `deleteAfter: the resource is to be deleted ${why}; ${reason}`;
        return { ...problemOfWaiting([message], message), reason: 'DeletionsHeld' };
      },
    };
  }

  return {
    isUsed: true,
    outdated,
    silent: { isUsed: true, outdated },
    problems(pass) {
      const failure = failures.get(pass);
      return failure === undefined ? [] : [failure];
    },
  };
}

/** The resource, and the objects that are deleted with it. */
function candidatesOf(pass: Pass): readonly PruneCandidate[] {
  const children = [...pass.context.watches.allChildren()].flatMap(({ labelledWith }) =>
    labelledWith(pass.uid).filter((stored) => isChild(pass, stored)),
  );
  return [
    { ref: refOfResource(pass), uid: pass.uid, childId: '' },
    ...pruneCandidatesOf(pass, children),
  ];
}

function refOfResource({ context, resource }: Pass) {
  const { namespace, name } = resource.metadata;
  return refTo(kindAt(context.plan.definition.kind.gvk, undefined), namespace, name);
}

/** Deletes the resource in the state that the pass has seen. */
async function deleteResource(pass: Pass, why: string): Promise<Problem | undefined> {
  const { context, resource, uid, effects, signal } = pass;
  const { resourceVersion } = resource.metadata;
  if (effects.updatedResource !== undefined || resourceVersion === undefined) {
    // Its own writes enqueue nothing.
    pass.again('input-changed');
    return undefined;
  }
  try {
    const options = { ...clusterWrite(pass), uid, resourceVersion };
    const answer = await context.cluster.delete(refOfResource(pass), options, signal);
    effects.hasWritten = true;
    if (answer === 'gone') return undefined;
    emitEvent(pass, {
      type: 'Normal',
      reason: 'Expired',
      action: 'Delete',
      note: `Deleted ${why}`,
    });
    return undefined;
  } catch (thrown) {
    const error = requestError(thrown, pass);
    // It has changed since, which runs it again.
    if (error.code === 'conflict' || error.code === 'uid-mismatch') return undefined;
    return problemOfResource(pass, error, 'deleteAfter');
  }
}
