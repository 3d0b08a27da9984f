import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { LocatedDefinition } from '../../../src/definition/index.ts';
import { createTextCheck } from '../../../src/runtime/check-text.ts';
import { Registry, type RegistryOptions } from '../../../src/runtime/registry/registry.ts';
import type { TextFindings } from '../../../src/runtime/registry/told-findings.ts';
import type { WantedSet } from '../../../src/runtime/wanted-definition.ts';
import { definitionParser } from '../definition-parser.ts';
import { thingDefinition } from '../definitions.ts';
import { FakeClock } from '../fake-clock.ts';
import { silentLogger } from '../silent-telemetry.ts';
import type { ScriptedSource } from './scripted-source.ts';

/** A definition of that name; versions differ in a constant. */
export const good = (name: string, version = 1) =>
  thingDefinition(name, `  vars: { version: ${version} }\n`);
/** With a mistake. */
export const bad = (name: string) => thingDefinition(name, '  reeds: []\n');
/** That cannot be parsed. */
export const garbled = 'kind: [\n';

/** It keeps nothing of what it checks: one is for all registries. */
const check = createTextCheck(undefined);

/** The first definition of a text. */
export function located(text: string): LocatedDefinition {
  const [definition] = definitionParser.parse(text, 'record').definitions;
  assert.ok(definition);
  return definition;
}

/** A name, its version, and a mark for a refusal of what the text says now. */
export function summary({ definitions }: WantedSet): readonly string[] {
  return definitions.map(({ located: { definition }, refusal, origin }) => {
    const { name, vars } = definition;
    return `${name}@${vars?.version}${refusal === undefined ? '' : '!'} ${origin?.ref}`;
  });
}

/** A registry that follows these sources until the test ends. */
export async function startRegistry(
  t: TestContext,
  sources: readonly ScriptedSource[],
  options: Partial<RegistryOptions> = {},
  clock = new FakeClock(),
) {
  const stopper = new AbortController();
  const sets: WantedSet[] = [];
  const findings: TextFindings[] = [];
  const registry = new Registry({
    sources,
    clock,
    logger: silentLogger(),
    check,
    onWanted: (wanted) => sets.push(wanted),
    onFindings: (news) => findings.push(...news),
    ...options,
  });
  const running = registry.run(stopper.signal);
  t.after(async () => {
    stopper.abort();
    await running;
    assert.equal(clock.pending, 0);
  });
  return {
    registry,
    sets,
    findings,
    /** The newest set, when everything is said. */
    async look(): Promise<WantedSet> {
      await clock.advance(100);
      const last = sets.at(-1);
      assert.ok(last, 'nothing was said');
      return last;
    },
    advance: (ms: number) => clock.advance(ms),
  };
}
