// `npm run bench -- sandbox`: what the sandbox costs, against its targets. With the name of a part, measures that part and prints JSON.
import { cpus } from 'node:os';
import { measureApplies } from './apply-speed.ts';
import { measureDefinitionTest } from './definition-test.ts';
import { measureHttp } from './http-speed.ts';
import { measureInChild } from './measure-in-child.ts';
import { measureMemory } from './memory.ts';
import { measureReady } from './ready.ts';
import type { Row } from './row.ts';
import { measureWatchers } from './watchers.ts';

const parts: Readonly<Record<string, () => readonly Row[] | Promise<readonly Row[]>>> = {
  ready: measureReady,
  applies: measureApplies,
  http: measureHttp,
  memory: measureMemory,
  'definition-test': measureDefinitionTest,
  watchers: measureWatchers,
};

const [part] = process.argv.slice(2);
if (part === undefined) printAll();
else {
  const measure = parts[part];
  if (measure === undefined) throw new Error(`Expected one of ${Object.keys(parts).join(', ')}`);
  process.stdout.write(JSON.stringify(await measure()));
  process.exit(0);
}

function printAll(): void {
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}\n`);
  console.log('| what | measured | target | |\n| --- | --- | --- | --- |');
  for (const name of Object.keys(parts))
    for (const { what, value, unit, target, isMet } of measureInChild(name))
      console.log(`| ${what} | ${value} ${unit} | ${target} | ${isMet ? 'met' : 'missed'} |`);
}
