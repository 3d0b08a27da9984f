import { printYaml } from '#definition';
import { printable } from '#util/printable-text.ts';
import type { Mismatch } from './compare-subset.ts';
import { escapeMarkup } from './escape-markup.ts';
import type { StepFailure, TestResult } from './run-test.ts';

export interface ReportOptions {
  readonly hasColor: boolean;
}

/** What is printed of one test: a line if it passed, else each failure with its place and the fields that differ. */
export function resultLines(result: TestResult, options: ReportOptions): readonly string[] {
  const { file, name, failures, skipped } = result;
  const title = printable(`${file}: ${name}`);
  if (skipped !== undefined)
    return [`${paint('SKIP', 33, options)} ${title}: ${printable(skipped)}`];
  if (failures.length === 0)
    return [`${paint('PASS', 32, options)} ${title} (${detailsOf(result)})`];
  return [
    `${paint('FAIL', 31, options)} ${title}`,
    ...failures.flatMap((failure) => failureLines(failure, result, options)),
  ];
}

function detailsOf({ steps, objects, tookMs, isReal = false, skippedSteps = 0 }: TestResult) {
  if (objects !== undefined) return `${objects} objects there and back`;
  const own = steps === 1 ? '1 step' : `${steps} steps`;
  if (!isReal) return `${own}, ${Math.round(tookMs) / 1_000} s simulated`;
  const skipped = skippedSteps === 0 ? '' : `, ${skippedSteps} skipped: need the sandbox`;
  return `${own}${skipped}; ${(tookMs / 1_000).toFixed(1)} s`;
}

function failureLines(
  { step, position, message, mismatches, conditions = [], hint, details = [] }: StepFailure,
  { file }: TestResult,
  options: ReportOptions,
): readonly string[] {
  const place = position === undefined ? '' : `${file}:${position.line}:${position.column}: `;
  return [
    ...(step === undefined ? [] : [printable(`  Step "${step}"`)]),
    printable(`    ${place}${message}`),
    ...mismatches.flatMap((mismatch) => mismatchLines(mismatch, options)),
    ...conditions.map((line) => printable(`      ${line}`)),
    ...(hint === undefined ? [] : [printable(`      = hint: ${hint}`)]),
    ...details.map((line) => printable(line === '' ? '' : `      ${line}`)),
  ];
}

function mismatchLines({ path, expected, found }: Mismatch, options: ReportOptions): string[] {
  return [
    ...(path === '' ? [] : [printable(`      ${path}`)]),
    ...valueLines('- expected', expected).map((line) => paint(line, 31, options)),
    ...valueLines('+ found', found).map((line) => paint(line, 32, options)),
  ];
}

const indent = ' '.repeat(8);

function valueLines(label: string, value: unknown): string[] {
  if (value === undefined) return [`${indent}${label}: nothing`];
  const lines = printable(printYaml(value)).trimEnd().split('\n');
  if (lines.length === 1) return [`${indent}${label}: ${lines[0]}`];
  return [`${indent}${label}:`, ...lines.map((line) => `${indent}    ${line}`)];
}

function paint(text: string, color: number, { hasColor }: ReportOptions): string {
  return hasColor ? `\u001b[${color}m${text}\u001b[39m` : text;
}

/** The line at the end: `3 tests: 2 passed, 1 failed`. */
export function summaryLine(results: readonly TestResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const tests = results.length === 1 ? '1 test' : `${results.length} tests`;
  const skipped = results.filter((result) => result.skipped !== undefined).length;
  const passed = results.length - failed - skipped;
  return `${tests}: ${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}

/** The results in the format that CI systems read (JUnit XML). Simulated time is not in it: CI systems show and add up real time. */
export function junitReport(results: readonly TestResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const skipped = results.filter((result) => result.skipped !== undefined).length;
  const counts = `tests="${results.length}" failures="${failed}" errors="0" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="homeostat" ${counts}>`,
    ...results.map(junitCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function junitCase(result: TestResult): string {
  const { file, name, failures, skipped, isReal = false, tookMs } = result;
  const place = escapeMarkup(file);
  const time = isReal ? ` time="${(tookMs / 1_000).toFixed(3)}"` : '';
  const attributes = `classname="${place}" name="${escapeMarkup(name)}" file="${place}"${time}`;
  const [first] = failures;
  if (skipped === undefined && first === undefined) return `    <testcase ${attributes}/>`;
  const text = resultLines(result, { hasColor: false }).slice(1).join('\n');
  const outcome =
    first === undefined
      ? `<skipped message="${escapeMarkup(skipped ?? '')}"/>`
      : `<failure message="${escapeMarkup(first.message)}">${escapeMarkup(text)}</failure>`;
  return `    <testcase ${attributes}>\n      ${outcome}\n    </testcase>`;
}
