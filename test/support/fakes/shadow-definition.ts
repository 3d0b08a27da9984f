import assert from 'node:assert/strict';
import { type LocatedDefinition, printYaml } from '#definition';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionParser } from '../definition-parser.ts';

export interface ShadowOptions {
  /** The kind that it is made for, of `v1`. @default 'Secret' */
  readonly kind?: string;
  /** Of the ConfigMap, with the text in it; there is no such one as any but the default. @default 'data' */
  readonly field?: string;
  /** Does the child stay when its resource is deleted? Then the resource has our finalizer. @default false */
  readonly isOrphaned?: boolean;
  /** Fields of the child besides. @default none */
  readonly child?: JsonObject;
  /** Fields of the spec besides. @default none */
  readonly more?: JsonObject;
}

/** The spec of a definition that makes a ConfigMap with this text for every Secret; other texts are other revisions. */
export function shadowSpec(
  text: string,
  { kind = 'Secret', field = 'data', isOrphaned = false, child, more }: ShadowOptions = {},
): JsonObject {
  return {
    for: { apiVersion: 'v1', kind },
    children: [
      {
        id: 'shadow',
        ...(isOrphaned && { deletionPolicy: 'Orphan' }),
        ...child,
        template: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: '${ metadata.name }-shadow' },
          [field]: { text },
        },
      },
    ],
    controller: { rollout: { perSecond: 0 } },
    ...more,
  };
}

/** With a mistake. */
export const brokenSpec: JsonObject = { ...shadowSpec('broken'), childern: [] };

/** It is taken, with a warning. */
export const oddSpec: JsonObject = shadowSpec('odd', { child: { forEach: ['a', 'b'] } });

/** As a user makes it. */
export function shadowObject(spec: JsonObject, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorDefinition',
    metadata: { name: 'shadow', ...metadata },
    spec,
  };
}

/** As it is parsed. */
export function locatedShadow(spec: JsonObject, name = 'shadow'): LocatedDefinition {
  const { metadata, ...object } = shadowObject(spec);
  const text = printYaml({ ...object, metadata: { ...metadata, name } });
  const { definitions, diagnostics } = definitionParser.parse(text, `${name}.yaml`);
  assert.deepEqual(diagnostics, []);
  const [located] = definitions;
  assert.ok(located);
  return located;
}
