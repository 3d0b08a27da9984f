import { relative } from 'node:path';
import { inspect } from 'node:util';
import { endTitle, fileBegunBy, markPattern } from './file-marks.mjs';

/**
 * The results among the events of `node:test`, in words that can be sent to another process. Suites do not count, unless one fails by itself, in a
 * hook. Of a process of one file, with the times of top-level tests and suites; a file without tests is reported by Node as a test with the name of
 * the file. Of a process whose files come from a queue, without the marks between them.
 */
export async function* testResults(events) {
  const names = [];
  /** The file of a queue whose tests these are, and whether it has any. */
  let file;
  let hasTests = false;
  for await (const { type, data } of events) {
    const isEnd = type === 'test:pass' || type === 'test:fail';
    if (data.nesting === 0 && markPattern.test(data.name)) {
      const begun = fileBegunBy(data.name);
      if (type === 'test:start' && begun !== undefined) {
        file = begun;
        hasTests = false;
      } else if (type === 'test:fail') {
        hasTests = true;
        yield { kind: 'failed', test: file, report: reportOf(data.details.error) };
      } else if (type === 'test:pass' && data.name === endTitle && !hasTests)
        yield { kind: 'empty', test: file };
    } else if (type === 'test:start') {
      names.length = data.nesting;
      names.push(data.name);
    } else if (isEnd) {
      hasTests = true;
      names.length = data.nesting;
      const result = resultOf(type, data, titleOf([...names, data.name], file ?? data.file, data));
      if (result !== undefined) yield result;
      if (data.nesting === 0 && file === undefined)
        yield { kind: 'time', file: fileOf(data), ms: data.details.duration_ms };
    } else if (type === 'test:diagnostic' && data.nesting === 0 && /^Error: /.test(data.message)) {
      // What goes wrong outside a test, or after its end.
      yield { kind: 'failed', test: data.message, report: data.message };
    } else if (type === 'test:summary' && data.file === undefined) yield { kind: 'end' };
  }
}

/** By its name where the suite was begun by a helper: Node has the file of the helper. */
function fileOf({ file = '', name }) {
  return file.endsWith('.test.ts') ? relative('', file) : name;
}

function resultOf(type, data, test) {
  const { details, name, file, skip, todo } = data;
  const isFile =
    data.nesting === 0 && file !== undefined && relative('', name) === relative('', file);
  if (type === 'test:fail' && todo === undefined) {
    const isEcho = details.type === 'suite' && details.error.failureType === 'subtestsFailed';
    return isEcho ? undefined : { kind: 'failed', test, report: reportOf(details.error) };
  }
  if (details.type === 'suite') return undefined;
  if (isFile) return { kind: 'empty', test };
  return { kind: skip !== undefined || todo !== undefined ? 'skipped' : 'passed', test };
}

function titleOf(names, file, { nesting }) {
  const path = relative('', file ?? '');
  const titles = nesting === 0 && relative('', names[0]) === path ? [] : names;
  return [path, ...titles].join(' > ');
}

function reportOf(error) {
  const { cause, failureType } = error;
  return failureType === 'testCodeFailure' || failureType === 'hookFailed'
    ? inspect(cause ?? error, { depth: 5 })
    : String(cause?.stack ?? cause ?? error.message);
}
