import { readdirSync } from 'node:fs';
import { createConverter } from '#conversion';
import { proveRoundTrips } from '#conversion/proof/index.ts';
import type { JsonObject } from '#util/json.ts';
import { pairsFolder, readPair, yaml } from '../../test/support/conversion-pairs.ts';

export interface RulesResult {
  readonly what: string;
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

/** Conversions of an object of 10 KiB without a server. */
export function benchRules(): readonly RulesResult[] {
  const converter = createConverter({ ...readPair('renamed-and-remapped.yaml'), yaml });
  return [false, true].flatMap((hasNotes) => {
    const here = sample(hasNotes);
    const there = converter.convert(here, 'v1').object ?? {};
    const kept = hasNotes ? '20 values preserved' : 'all fields have a place';
    const what = `${JSON.stringify(here).length} bytes, ${kept}`;
    return [
      measure(`${what}, to the hub`, () => converter.convert(here, 'v1')),
      measure(`${what}, from the hub`, () => converter.convert(there, 'v1alpha1')),
    ];
  });
}

function sample(hasNotes: boolean): JsonObject {
  const rules = Array.from({ length: 90 }, (_, index) => ({
    name: `rule-with-a-name-${index}`,
    port: 8_000 + index,
    ...(hasNotes && index < 20 && { note: 'kept for the older version' }),
  }));
  const zones = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`zone-${index}`, { weight: index }]),
  );
  const hosts = Array.from({ length: 60 }, (_, index) => `host-${index}.example.com`);
  const labels = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`example.com/label-${index}`, `value-${index}`]),
  );
  return {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Sample',
    metadata: { name: 'sample', namespace: 'default', labels },
    spec: { size: 3, image: 'registry/web:1', mode: 'fast', timeout: '1m30s', rules, zones, hosts },
    status: { ready: true, count: 3 },
  };
}

function measure(what: string, convert: () => unknown): RulesResult {
  for (let index = 0; index < 2_000; index++) convert();
  const times: number[] = [];
  const start = process.cpuUsage();
  for (let index = 0; index < 10_000; index++) {
    const before = performance.now();
    convert();
    times.push(performance.now() - before);
  }
  const { user, system } = process.cpuUsage(start);
  const seconds = (user + system) / 1e6;
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0) * 1_000;
  return { what, perSecond: times.length / seconds, p50Us: at(0.5), p99Us: at(0.99) };
}

/** Converts random objects there and back, and prints what fails. Returns a sentence. */
export function prove(objects: number): string {
  const files = readdirSync(pairsFolder).filter((name) => name.endsWith('.yaml'));
  const count = Math.ceil(objects / files.length);
  const before = process.cpuUsage();
  for (const file of files) {
    const { failures } = proveRoundTrips({ ...readPair(file), yaml, seed: 2, count });
    for (const { path, difference } of failures)
      console.log(`${file}: ${path.join(' > ')}\n${difference}`);
    if (failures.length > 0) process.exitCode = 1;
  }
  const { user } = process.cpuUsage(before);
  return `${count * files.length} random objects of ${files.length} kinds, there and back: ${(user / 1e6).toFixed(0)} s of CPU`;
}
