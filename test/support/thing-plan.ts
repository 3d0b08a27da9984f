import assert from 'node:assert/strict';
import {
  bundledSchemas,
  type CompileResult,
  compile,
  type Element,
  type ExpressionInput,
  type OperatorPlan,
  type Phase,
  type PhaseInput,
  type Rendered,
} from '#compile';
import type { LocatedDefinition } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionParser } from './definition-parser.ts';
import { thingDefinition } from './definitions.ts';

/** A definition of kind Thing; `body` is YAML below `spec`, indented by two. The schema is open unless given, indented by twelve. */
export function locateThing(body: string, schema?: string): LocatedDefinition {
  const text = thingDefinition('thing', body, {
    group: 'apps.example.com',
    ...(schema === undefined ? {} : { schema }),
  });
  const { definitions, diagnostics } = definitionParser.parse(text, 'thing.yaml');
  assert.deepEqual(diagnostics, []);
  const [located] = definitions;
  assert.ok(located);
  return located;
}

/** Compiles it with the schemas of the built-in kinds. */
export function compileThing(body: string, schema?: string): CompileResult {
  return compile(locateThing(body, schema), bundledSchemas());
}

/** The plan of a definition without errors. Its manifests may lack fields that only a server requires. */
export function planOfThing(body: string, schema?: string): OperatorPlan {
  const { plan, diagnostics } = compileThing(body, schema);
  assert.deepEqual(
    diagnostics.filter(({ code, severity }) => code !== 'missing-field' || severity === 'error'),
    [],
  );
  assert.ok(plan);
  return plan;
}

/** A Thing. */
export function thing(spec: unknown = {}, status?: unknown): KubeObject {
  return {
    apiVersion: 'apps.example.com/v1',
    kind: 'Thing',
    metadata: { name: 'one', namespace: 'default', uid: 'u1' },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}

/** Begins a phase; *wanting* unless it is said. */
export function phaseOf(plan: OperatorPlan, input: Partial<PhaseInput> = {}): Phase {
  return plan.startPhase({
    phase: 'wanting',
    resource: thing(),
    now: '2026-01-02T03:04:05Z',
    randomText: (length) => 'x'.repeat(length),
    cluster: { name: 'test', labels: {} },
    ...input,
  });
}

export function present(value: unknown): ExpressionInput {
  return { state: 'present', value: value as KubeObject };
}

export const noElement: Element = { item: undefined, index: 0 };

/** A ConfigMap child `{ id, data, metadata.name: id }` in one line. */
export function configMap(id: string, data: string, more = ''): string {
  return `    - id: ${id}
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: ${id.toLowerCase()} }, data: { ${data} } }
${more === '' ? '' : `      ${more}\n`}`;
}

/** The value of something that was rendered. */
export function givenBy<T>(rendered: Rendered<T>): T {
  assert.equal(rendered.kind, 'value', JSON.stringify(rendered));
  return (rendered as Extract<Rendered<T>, { kind: 'value' }>).value;
}

/** `code field message` of a failure. */
export function failureOf(rendered: Rendered<unknown>): string {
  assert.equal(rendered.kind, 'failed', JSON.stringify(rendered));
  const { code, field, message } = (rendered as Extract<Rendered<never>, { kind: 'failed' }>)
    .failure;
  return `${code} ${field}: ${message}`;
}
