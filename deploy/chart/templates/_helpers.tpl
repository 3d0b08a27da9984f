{{- define "homeostat.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* The name of the release where it says "homeostat" already. Not longer than 52: names are made of it. */ -}}
{{- define "homeostat.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := include "homeostat.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Of what is in no namespace: two releases of one name may be in two namespaces. */ -}}
{{- define "homeostat.clusterName" -}}
{{- $fullname := include "homeostat.fullname" . }}
{{- if eq .Release.Namespace (printf "%s-system" $fullname) }}
{{- $fullname }}
{{- else }}
{{- printf "%s:%s" .Release.Namespace $fullname }}
{{- end }}
{{- end }}

{{- define "homeostat.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "homeostat.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name is needed where serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "homeostat.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "homeostat.selectorLabels" -}}
app.kubernetes.io/name: {{ include "homeostat.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "homeostat.labels" -}}
{{ include "homeostat.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- /* Of the conversion webhook. Names of their own: the selectors of the runtime must not match these Pods. */ -}}
{{- define "homeostat.conversionSelectorLabels" -}}
app.kubernetes.io/name: {{ include "homeostat.name" . }}-conversion
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "homeostat.conversionLabels" -}}
{{ include "homeostat.conversionSelectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
