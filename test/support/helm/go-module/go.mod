// The module that test/support/helm builds helm from, to render and check the chart of deploy/.
module homeostat.dev/helm

go 1.26.0

require helm.sh/helm/v4 v4.3.1
