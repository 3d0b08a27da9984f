import { escapeMarkup } from '../escape-markup.ts';
import type { CoveredPoint } from './coverage-collector.ts';
import { coveredPercent, missingText, reportedGaps } from './coverage-text.ts';

/** A definition file as it was checked. */
interface SourceFile {
  readonly file: string;
  readonly text: string;
}

/** The coverage as one page: each file with its lines, marked by what tests reach, and what is missing at the end of a line. */
export function coverageHtml(
  points: readonly CoveredPoint[],
  sources: readonly SourceFile[],
): string {
  const sections = sources.flatMap(({ file, text }) => {
    const own = points.filter((point) => point.file === file);
    return own.length === 0 ? [] : [sectionOf(file, text, own)];
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Coverage of definitions</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #1f2328; background: #fff; }
pre { font: 13px/1.5 ui-monospace, monospace; overflow-x: auto; }
.line { display: block; padding-left: .5rem; border-left: 4px solid transparent; }
.covered { border-color: #2da44e; }
.missing { border-color: #cf222e; background: #ffebe9; }
.number { display: inline-block; width: 3rem; color: #6e7781; user-select: none; }
.note { color: #a40e26; }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117; }
  .missing { background: #3c1618; }
  .note { color: #ff8182; }
}
</style>
<h1>Coverage of definitions: ${coveredPercent(points)} %</h1>
${sections.join('\n')}
</html>
`;
}

function sectionOf(file: string, text: string, points: readonly CoveredPoint[]): string {
  const gaps = reportedGaps(points);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((content, index) => {
      const isOn = ({ position }: CoveredPoint) => position.line === index + 1;
      const missing = gaps.filter(isOn);
      const reached = points.some(isOn) ? 'line covered' : 'line';
      const style = missing.length > 0 ? 'line missing' : reached;
      const notes = [...new Set(missing.map(missingText))].join('; ');
      const note = notes === '' ? '' : ` <span class="note">&#9664; ${notes}</span>`;
      return `<span class="${style}"><span class="number">${index + 1}</span>${escapeMarkup(content)}${note}</span>`;
    });
  return `<h2>${escapeMarkup(file)}: ${coveredPercent(points)} %</h2>\n<pre>${lines.join('')}</pre>`;
}
