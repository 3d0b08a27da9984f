import assert from 'node:assert/strict';
import type { JsonObject } from '#util/json.ts';
import type { Backend } from '../../support/backends/index.ts';

export interface EventSubject {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** Type, reason and message of each event of an object, as often as it was reported. */
export async function reportedEvents(
  backend: Backend,
  { namespace, kind, name }: EventSubject,
): Promise<readonly string[]> {
  const selector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const answer = await backend.request({
    method: 'GET',
    path: `/api/v1/namespaces/${namespace}/events?fieldSelector=${encodeURIComponent(selector)}`,
    headers: { accept: 'application/json' },
  });
  assert.equal(answer.status, 200, answer.text);
  const { items } = JSON.parse(answer.text) as { items: readonly JsonObject[] };
  return items.flatMap(({ type, reason, message, count }) =>
    new Array<string>(Number(count ?? 1)).fill(`${type} ${reason} ${message}`),
  );
}
