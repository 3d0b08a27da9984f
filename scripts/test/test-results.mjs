import { relative } from 'node:path';
import { inspect } from 'node:util';

/**
 * The results among the events of `node:test`, in words that can be sent to another process. Suites do not count, unless one fails
 * by itself, in a hook; a file without tests is reported by Node as a test with the name of the file.
 */
export async function* testResults(events) {
  const names = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      names.length = data.nesting;
      names.push(data.name);
    } else if (type === 'test:pass' || type === 'test:fail') {
      names.length = data.nesting;
      const result = resultOf(type, data, titleOf([...names, data.name], data));
      if (result !== undefined) yield result;
    } else if (type === 'test:diagnostic' && data.nesting === 0 && /^Error: /.test(data.message)) {
      // What goes wrong outside a test, or after its end.
      yield { kind: 'failed', test: data.message, report: data.message };
    } else if (type === 'test:summary' && data.file === undefined) yield { kind: 'end' };
  }
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

function titleOf(names, { file, nesting }) {
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
