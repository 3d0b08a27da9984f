// Writes docs/messages.md from the catalogue of log messages.
// With --check it only compares, and fails when the file is not up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type LogMessageSpec, type LogTopic, logMessages } from '#telemetry/log-messages.ts';

const file = fileURLToPath(new URL('../docs/messages.md', import.meta.url));

const topics: Readonly<Record<LogTopic, string>> = {
  process: 'Process and leader election',
  definitions: 'Definitions',
  rollouts: 'Roll-outs',
  resources: 'Resources',
  conversions: 'Conversions between versions',
  cluster: 'API server and watches',
  rights: 'Rights and Events',
};

const text = `${[
  '# Log messages',
  '',
  'Generated from `src/engine/telemetry/log-messages.ts` by `npm run generate`; do not edit.',
  '',
  'This page lists every message that `homeostat run` logs, what it means and what to do. A log line is a JSON object: `msg` is one of these',
  'messages, all variable parts are fields of their own, such as `definition`, `kind`, `key` or `reason`. Alert on `msg` and `level`.',
  '',
  'Other messages have pages of their own: conditions and Events in [conditions.md](conditions.md), errors and warnings of definitions in',
  '[diagnostics.md](diagnostics.md), metrics in [metrics.md](metrics.md).',
  ...(Object.keys(topics) as LogTopic[]).flatMap((topic) => [
    '',
    `## ${topics[topic]}`,
    '',
    ...tableOf(topic),
  ]),
].join('\n')}\n`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  process.stderr.write(`${file} is not up to date: run scripts/generate-messages-page.ts\n`);
  process.exitCode = 1;
}

function tableOf(topic: LogTopic): readonly string[] {
  const specs: readonly (readonly [string, LogMessageSpec])[] = Object.entries(logMessages);
  return [
    '| message | meaning | what to do |',
    '| --- | --- | --- |',
    ...specs
      .filter(([, spec]) => spec.topic === topic)
      .map(([message, { meaning, action = '' }]) => `| \`${message}\` | ${meaning} | ${action} |`),
  ];
}
