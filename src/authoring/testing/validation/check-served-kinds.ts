import {
  arrangeDiagnostics,
  type Diagnostic,
  type Finding,
  type LocatedDefinition,
  locate,
  type OperatorTest,
} from '#definition';
import { httpKinds } from '#http-objects/kinds/index.ts';
import { builtinNames } from '#sandbox';
import { isCluster } from '#simulation';
import { apiVersionOf, type Gvk, gvkKey } from '#util/gvk.ts';
import type { KnownKinds } from './known-kinds.ts';

/**
 * Warns about kinds that the simulated cluster of a test does not serve: children of them wait, and so does what reads them. A kind in a
 * member cluster counts as well: members serve what the test gives them.
 */
export function checkServedKinds(
  test: OperatorTest,
  definitions: readonly LocatedDefinition[],
  kinds: readonly KnownKinds[],
): readonly Diagnostic[] {
  const seen = new Set<string>();
  const findings = definitions.flatMap(({ definition }): readonly Finding[] =>
    usesOf(definition).flatMap(({ gvk, what }): readonly Finding[] => {
      if (seen.has(gvkKey(gvk)) || isServed(gvk, kinds)) return [];
      seen.add(gvkKey(gvk));
      return [
        {
          severity: 'warning',
          code: 'unknown-name',
          path: '/spec/steps',
          at: 'key',
          message: `The cluster of the test does not serve the kind "${gvk.kind}" of "${apiVersionOf(gvk)}", which ${what} of definition "${definition.name}" needs`,
          hint: 'Add its CustomResourceDefinition to "given"',
        },
      ];
    }),
  );
  return arrangeDiagnostics(findings.map((finding) => locate(finding, test.source)));
}

interface KindUse {
  readonly gvk: Gvk;
  /** For people. */
  readonly what: string;
}

/** An optional read of a kind that is not served is absent. */
function usesOf({
  kind,
  children,
  reads,
  install = [],
  onDelete,
}: LocatedDefinition['definition']): readonly KindUse[] {
  return [
    { gvk: kind.gvk, what: '"for"' },
    ...[...children, ...(onDelete?.children ?? [])].map(({ id, gvk }) => ({
      gvk,
      what: `child "${id}"`,
    })),
    ...install.map(({ id, gvk }) => ({ gvk, what: `object "${id}" of "install"` })),
    ...reads
      .filter(({ optional }) => !optional)
      .map(({ id, gvk }) => ({ gvk, what: `read "${id}"` })),
  ];
}

function isServed(gvk: Gvk, kinds: readonly KnownKinds[]): boolean {
  const key = gvkKey(gvk);
  return (
    builtinNames().some((each) => gvkKey(each) === key) ||
    httpKinds.some((each) => gvkKey(each.gvk) === key) ||
    isCluster({ apiVersion: apiVersionOf(gvk), kind: gvk.kind }) ||
    kinds.some((each) => each.find(apiVersionOf(gvk), gvk.kind)?.isCustom === true)
  );
}
