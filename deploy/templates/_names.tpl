{{- /*
One installation per cluster, since the webhook configurations' names order them among all others: every name is fixed.
*/ -}}

{{- define "lanyard.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "lanyard.webhook.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: webhook
{{- end }}

{{- define "lanyard.node.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: node
{{- end }}

{{- define "lanyard.agent.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: agent
{{- end }}

{{- define "lanyard.image" -}}
{{- with .Values.image -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* The webhook runs in this cluster, not at an address of its own. */ -}}
{{- define "lanyard.inside" -}}
{{- if not .Values.webhook.url }}yes{{ end }}
{{- end }}

{{- /* The webhook's caller is known by its certificate, not by a path that only the API server knows. */ -}}
{{- define "lanyard.byCertificate" -}}
{{- if .Values.webhook.clientCAConfigMap }}yes{{ end }}
{{- end }}

{{- /* The webhook writes files: records, audit events, or both. */ -}}
{{- define "lanyard.recordFiles" -}}
{{- if or (not .Values.webhook.records.stdout) .Values.webhook.auditEvents }}yes{{ end }}
{{- end }}

{{- /* For each kind: the files that are kept, the one that is written, and one to spare while they are rotated. */ -}}
{{- define "lanyard.recordsMiB" -}}
{{- with .Values.webhook -}}
{{ mul .records.fileMiB (add .records.keep 2) (add (ternary 0 1 .records.stdout) (ternary 1 0 .auditEvents)) }}
{{- end -}}
{{- end }}

{{- define "lanyard.tlsSecret" -}}
{{ .Values.tls.existingSecret | default "lanyard-bridge-webhook-tls" }}
{{- end }}

{{- /* Rules between values, which a schema would tell in words of its own. */ -}}
{{- define "lanyard.check" -}}
{{- with .Values.tls }}
{{- if and .caBundle .injectCAFrom }}{{ fail "tls.caBundle and tls.injectCAFrom: give one" }}{{ end }}
{{- if and .existingSecret (not .caBundle) (not .injectCAFrom) }}{{ fail "tls.existingSecret: needs tls.caBundle or tls.injectCAFrom" }}{{ end }}
{{- if and (not .existingSecret) (not $.Values.webhook.url) (or .caBundle .injectCAFrom) }}{{ fail "tls.caBundle and tls.injectCAFrom: need tls.existingSecret, or webhook.url" }}{{ end }}
{{- end }}
{{- with .Values.webhook }}
{{- if and .clientNames (not .clientCAConfigMap) }}{{ fail "webhook.clientNames: needs webhook.clientCAConfigMap" }}{{ end }}
{{- if and .pathSecret .clientCAConfigMap }}{{ fail "webhook.pathSecret and webhook.clientCAConfigMap: give one" }}{{ end }}
{{- if and (not .records.keep) (not .records.existingClaim) }}{{ fail "webhook.records.keep: 0 needs webhook.records.existingClaim" }}{{ end }}
{{- if and .url .pathSecret }}{{ fail "webhook.pathSecret: is a part of webhook.url" }}{{ end }}
{{- end }}
{{- end }}
