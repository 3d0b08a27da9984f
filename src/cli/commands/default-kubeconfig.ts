/** Path of the kubeconfig that `homeostat dev` writes and other commands read, relative to the working directory. */
export const defaultKubeconfig = '.homeostat/kubeconfig';
