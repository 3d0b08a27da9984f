import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type ConversionRules, parseConversionRules, type YamlText } from '#conversion';
import { conversionYaml, parseYaml } from '#definition';
import type { JsonObject } from '#util/json.ts';

export const pairsFolder = 'test/fixtures/conversions';

export const yaml: YamlText = conversionYaml;

/** Rules, and the schemas of the versions between which they convert. */
export interface ConversionPair {
  readonly rules: ConversionRules;
  readonly schemas: ReadonlyMap<string, JsonObject>;
}

export function readPair(file: string): ConversionPair {
  const json = parseYaml(readFileSync(`${pairsFolder}/${file}`, 'utf8')) as JsonObject;
  const { rules, problems } = parseConversionRules(json.rules);
  assert.ok(rules !== undefined, JSON.stringify(problems));
  return { rules, schemas: new Map(Object.entries(json.schemas as Record<string, JsonObject>)) };
}
