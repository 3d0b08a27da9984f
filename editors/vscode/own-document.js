const { readdirSync, readFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');

/** Of a folder with more files, the first ones are read. */
const maxFiles = 100;

/** Whether a document is a YAML text of Homeostat. */
function isOwnDocument(document) {
  return document.languageId === 'yaml' && isOwnText(document.getText());
}

/** Whether a document is a YAML file in a folder `samples` beside definitions, as `homeostat validate` finds them. */
function isSample({ languageId, uri }) {
  if (languageId !== 'yaml' || uri.scheme !== 'file') return false;
  const folder = dirname(uri.fsPath);
  return basename(folder) === 'samples' && hasDefinitions(dirname(folder));
}

function hasDefinitions(folder) {
  try {
    return readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .slice(0, maxFiles)
      .some((name) => isOwnText(readFileSync(join(folder, name), 'utf8')));
  } catch {
    return false;
  }
}

function isOwnText(text) {
  return text.includes('homeostat.dev/');
}

module.exports = { isOwnDocument, isSample };
