import { gvkOf } from '../../util/gvk.ts';
import type { Pass } from '../pass/pass.ts';
import { identityOf, topicOf } from '../wake/child-watch.ts';
import type { Watches } from '../wake/watches.ts';

export interface ForgetfulPass extends Pick<Pass, 'uid' | 'claims' | 'state'> {
  readonly context: { readonly watches: Pick<Watches, 'allChildren'> };
}

/** What is remembered of children that are neither wanted nor there goes: their names may never come back. */
export function forgetAnswers({ uid, claims, state, context }: ForgetfulPass): void {
  const remembered = [state.serverMade, state.appliedIntents];
  const unwanted = remembered.flatMap((answers) =>
    [...answers.keys()].filter((topic) => isOfUnwanted(topic, claims)),
  );
  if (unwanted.length === 0) return;
  const there = topicsOf(context.watches, uid);
  for (const topic of unwanted) {
    if (there.has(topic)) continue;
    for (const answers of remembered) answers.delete(topic);
  }
}

/** What a patch has made is of an object that others want. */
function isOfUnwanted(topic: string, claims: Pass['claims']): boolean {
  return !topic.startsWith('patch ') && !claims.has(identityOfTopic(topic));
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
