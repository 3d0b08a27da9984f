import type { Seen } from '../../compile/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { ChildResult, Pass } from '../pass/pass.ts';
import { liveOf } from './element-result.ts';

/** What later tiers see of a child: what exists; they wait while it, or an element of it, does not. */
export function seenWhileWanting({ plan, resolution, elements }: ChildResult): Seen {
  if (resolution === 'unwanted') return { state: 'absent' };
  const objects = elements.map(({ live }) => live?.object);
  if (!objects.every((object) => object !== undefined)) {
    return { state: 'waiting', on: `children.${plan.id}` };
  }
  return present(plan.isList, objects);
}

/** What the report sees of a child: nothing waits, what does not exist is missing. */
export function seenWhileReporting(pass: Pass, { plan, resolution, elements }: ChildResult): Seen {
  if (resolution === 'unwanted') return { state: 'absent' };
  const rendered = elements.flatMap(({ live }) => (live === undefined ? [] : [live]));
  // Elements whose names are not known now stay as they are: they are reported as they are.
  const objects = plan.isList && resolution === 'unknown' ? liveOf(pass, plan) : rendered;
  return present(
    plan.isList,
    objects.map(({ object }) => object),
  );
}

function present(isList: boolean, objects: readonly KubeObject[]): Seen {
  if (isList) return { state: 'present', value: objects };
  const [object] = objects;
  return object === undefined ? { state: 'absent' } : { state: 'present', value: object };
}
