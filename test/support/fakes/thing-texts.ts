import assert from 'node:assert/strict';
import type { LocatedDefinition } from '#definition';
import type { DefinitionView } from '#runtime';
import { definitionParser } from '../definition-parser.ts';
import { thingDefinition } from '../definitions.ts';

/** A definition of that name; versions differ in a constant. */
export const good = (name: string, version = 1) =>
  thingDefinition(name, `  vars: { version: ${version} }\n`);
/** With a mistake. */
export const bad = (name: string) => thingDefinition(name, '  reeds: []\n');
/** That cannot be parsed. */
export const garbled = 'kind: [\n';

/** The first definition of a text. */
export function located(text: string, file = 'record'): LocatedDefinition {
  const [definition] = definitionParser.parse(text, file).definitions;
  assert.ok(definition, text);
  return definition;
}

/** A definition of its own group; another `body` is another revision. */
export function locatedThing(name: string, body = ''): LocatedDefinition {
  return located(thingDefinition(name, body), `${name}.yaml`);
}

/** Where a definition stands that runs as it should. */
export function runningView(
  { definition: { name, revision, kind } }: LocatedDefinition,
  changes: Partial<DefinitionView> = {},
): DefinitionView {
  return {
    name,
    revision,
    apiVersion: `${kind.gvk.group}/${kind.gvk.version}`,
    kind: kind.gvk.kind,
    state: { kind: 'running' },
    instances: 0,
    readyInstances: 0,
    orphaned: 0,
    queued: 0,
    problems: [],
    ...changes,
  };
}
