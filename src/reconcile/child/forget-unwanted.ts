import { gvkOf } from '../../util/gvk.ts';
import { identityOf, topicOf } from '../identity.ts';
import type { Found, Pass, PrunedObject } from '../pass/pass.ts';
import type { Watches } from '../wake/watches.ts';

export interface ForgetfulPass extends Pick<Pass, 'uid' | 'state'> {
  readonly found: Pick<Found, 'claims'>;
  readonly did: { readonly pruned: readonly Pick<PrunedObject, 'object'>[] };
  readonly context: { readonly watches: Pick<Watches, 'allChildren'> };
}

/**
 * What is not wanted any more is neither rejected nor contested any more. Of children that are neither wanted nor there the server's
 * answers are forgotten, too: their names may never come back.
 */
export function forgetUnwanted({ uid, state, context, found, did }: ForgetfulPass): void {
  const { claims } = found;
  let there: ReadonlySet<string> | undefined;
  state.attempts.retain({
    isWanted: (identity) => claims.has(identity),
    isAnswerKept: (topic) => {
      // What a patch has made is of an object that others want.
      if (topic.startsWith('patch ') || claims.has(identityOfTopic(topic))) return true;
      there ??= topicsOf(context.watches, uid);
      return there.has(topic);
    },
    isToGo: (deleted) => did.pruned.some(({ object }) => object.metadata.uid === deleted),
  });
  for (const identity of state.replaced.keys()) {
    if (!claims.has(identity)) state.replaced.delete(identity);
  }
}

/** As {@link identityOf}, of what {@link topicOf} gives. */
function identityOfTopic(topic: string): string {
  const bar = topic.indexOf('|');
  const steps = topic.slice(0, bar).split('/');
  const [kind = '', , group = ''] = steps.reverse();
  return `${group}/${kind}${topic.slice(bar)}`;
}

function topicsOf(watches: Pick<Watches, 'allChildren'>, uid: string): ReadonlySet<string> {
  const topics = new Set<string>();
  for (const watch of watches.allChildren()) {
    for (const { object } of watch.labelledWith(uid)) {
      const { namespace, name } = object.metadata;
      topics.add(topicOf(gvkOf(object.apiVersion, object.kind), namespace, name));
    }
  }
  return topics;
}
