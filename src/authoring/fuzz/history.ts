import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import type { Json } from '#util/json.ts';

/** What happens to a resource, from its creation to before its deletion. */
export interface History {
  /** Content of the resource at first: its `spec`, and other fields of the schema beside `metadata` and `status`. */
  readonly content: Content;
  readonly actions: readonly Action[];
}

export type Content = Readonly<Record<string, Json>>;

export type Action =
  /** A user applies other content. */
  | { readonly kind: 'edit'; readonly content: Content }
  /** Somebody deletes a child. `child`: a number modulo the number of children. */
  | { readonly kind: 'deleteChild'; readonly child: number }
  /** Somebody changes a value of a child. `field`: a number modulo the number of values. */
  | { readonly kind: 'changeChild'; readonly child: number; readonly field: number }
  /** What Pods do from now on. */
  | { readonly kind: 'outcome'; readonly is: 'ready' | 'never-ready' | 'fail' }
  /** The server answers the next writes of the operator with an error. */
  | { readonly kind: 'fail'; readonly with: number; readonly times: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'advance'; readonly minutes: number }
  /** A member cluster does not respond for a time. */
  | { readonly kind: 'outage'; readonly cluster: string; readonly minutes: number };

/** Random histories. `members`: names of member clusters. Pure. */
export function historyArbitrary(
  content: Arbitrary<Content>,
  members: readonly string[] = [],
): Arbitrary<History> {
  return fc.record({
    content,
    actions: fc.array(actionArbitrary(content, members), { maxLength: 5 }),
  });
}

function actionArbitrary(
  content: Arbitrary<Content>,
  members: readonly string[],
): Arbitrary<Action> {
  const index = fc.nat(30);
  const outages = members.map((cluster) => ({
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('outage' as const),
      cluster: fc.constant(cluster),
      minutes: fc.integer({ min: 1, max: 30 }),
    }),
  }));
  return fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('edit' as const), content }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('deleteChild' as const), child: index }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('changeChild' as const),
        child: index,
        field: index,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('outcome' as const),
        is: fc.constantFrom('ready' as const, 'never-ready' as const, 'fail' as const),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('fail' as const),
        with: fc.constantFrom(500, 503, 409, 429),
        times: fc.integer({ min: 1, max: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('advance' as const),
        minutes: fc.integer({ min: 1, max: 90 }),
      }),
    },
    ...outages,
  );
}
