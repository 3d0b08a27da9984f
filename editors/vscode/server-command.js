const { accessSync, constants, statSync } = require('node:fs');
const { delimiter, join, resolve } = require('node:path');

/**
 * Which program is the language server: the setting, else that of a folder of the workspace, else the first one on the PATH.
 * @param {object} options
 * @param {string} options.setting `homeostat.path`; empty: not set
 * @param {readonly string[]} options.folders paths of the folders of the workspace
 * @param {string} [options.searchPath] folders of programs, as in the variable PATH
 * @param {(path: string) => boolean} [options.isProgram]
 * @returns {{ command: string, args: string[] } | undefined} undefined: there is no such program
 */
function serverCommand({
  setting,
  folders,
  // biome-ignore lint/style/noProcessEnv: the programs that the editor finds
  searchPath = process.env.PATH ?? '',
  isProgram = isExecutable,
}) {
  const found = [
    ...folders.map((folder) => join(folder, 'node_modules', '.bin')),
    ...searchPath.split(delimiter).filter((folder) => folder !== ''),
  ].map((folder) => join(folder, 'homeostat'));
  const programs = setting === '' ? found : [resolve(folders[0] ?? '', setting)];
  const command = programs.find(isProgram);
  return command && { command, args: ['lsp'] };
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

module.exports = { serverCommand };
