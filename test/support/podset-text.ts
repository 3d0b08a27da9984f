import assert from 'node:assert/strict';
import { bundledSchemas, compile, type OperatorPlan } from '#compile';
import { definitionParser } from './definition-parser.ts';

const head = `
apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: podset }
spec:
  crd:
    group: apps.example.com
    names: { kind: PodSet, plural: podsets }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
              status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;

/** The compiled plan of a PodSet definition, of the rest of its `spec`. */
export function planOfPodSet(body: string): OperatorPlan {
  const { definitions, diagnostics } = definitionParser.parse(head + body, 'podset.yaml');
  const [located] = definitions;
  assert.ok(located, JSON.stringify(diagnostics));
  const result = compile(located, bundledSchemas());
  assert.ok(result.plan, JSON.stringify(result.diagnostics));
  return result.plan;
}
