import { printYaml } from '../../definition/index.ts';
import { pointerSteps } from '../../util/json.ts';
import type { Mismatch } from './compare-subset.ts';
import { escapeMarkup } from './escape-markup.ts';
import type { StepFailure, TestResult } from './run-test.ts';

export interface ReportOptions {
  readonly hasColor: boolean;
}

/** What is printed of one test: a line if it passed, else each failure with its place and the fields that differ. */
export function resultLines(result: TestResult, options: ReportOptions): readonly string[] {
  const { test, failures, simulatedMs } = result;
  const title = `${test.source.file}: ${test.name}`;
  const steps = test.steps.length === 1 ? '1 step' : `${test.steps.length} steps`;
  if (failures.length === 0)
    return [
      `${paint('PASS', 32, options)} ${title} (${steps}, ${simulatedMs / 1_000} s simulated)`,
    ];
  return [
    `${paint('FAIL', 31, options)} ${title}`,
    ...failures.flatMap((failure) => failureLines(failure, result, options)),
  ];
}

function failureLines(
  { step, pointer, message, mismatches }: StepFailure,
  { test }: TestResult,
  options: ReportOptions,
): readonly string[] {
  const { line, column } = test.source.valueAt(pointer);
  const place = `${test.source.file}:${line}:${column}`;
  return [
    ...(step === undefined ? [] : [`  Step "${step}"`]),
    `    ${place}: ${message}`,
    ...mismatches.flatMap((mismatch) => mismatchLines(mismatch, options)),
  ];
}

function mismatchLines({ pointer, expected, found }: Mismatch, options: ReportOptions): string[] {
  const field = pointerSteps(pointer).join('.');
  return [
    ...(field === '' ? [] : [`      ${field}`]),
    ...valueLines('- expected', expected).map((line) => paint(line, 31, options)),
    ...valueLines('+ found', found).map((line) => paint(line, 32, options)),
  ];
}

const indent = ' '.repeat(8);

function valueLines(label: string, value: unknown): string[] {
  if (value === undefined) return [`${indent}${label}: nothing`];
  const lines = printYaml(value).trimEnd().split('\n');
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
  return `${tests}: ${results.length - failed} passed, ${failed} failed`;
}

/** The results in the format that CI systems read (JUnit XML). */
export function junitReport(results: readonly TestResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const cases = results.map((result) => {
    const { test, failures } = result;
    const attributes = `classname="${escapeMarkup(test.source.file)}" name="${escapeMarkup(test.name)}"`;
    if (failures.length === 0) return `    <testcase ${attributes}/>`;
    const text = resultLines(result, { hasColor: false }).slice(1).join('\n');
    const message = escapeMarkup(failures[0]?.message ?? '');
    return `    <testcase ${attributes}>\n      <failure message="${message}">${escapeMarkup(text)}</failure>\n    </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${results.length}" failures="${failed}">`,
    `  <testsuite name="homeostat" tests="${results.length}" failures="${failed}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}
