{{- define "millwright.labels" -}}
app.kubernetes.io/name: millwright
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "millwright.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- /* Of a pod, whatever it does. */ -}}
{{- define "millwright.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
imagePullSecrets: {{ toJson .Values.image.pullSecrets }}
{{- end -}}

{{- define "millwright.settings" -}}
METRICS_PORT: '9464'
TRUST_PROXY: {{ .Values.trustProxy | quote }}
CONFIG_FILE: /config/millwright.json
{{- if and .Values.ingress.enabled .Values.ingress.tlsSecretName }}
PUBLIC_URL: https://{{ .Values.ingress.host }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end -}}

{{- define "millwright.config" -}}
millwright.json: {{ toJson .Values.configFile | quote }}
{{- end -}}

{{- define "millwright.environment" -}}
envFrom:
  - configMapRef: { name: {{ .Release.Name }}-settings }
  - secretRef: { name: {{ .Values.secretName | quote }} }
{{- end -}}

{{- define "millwright.outward" -}}
{{- $policy := .Values.networkPolicy -}}
{{ toJson (concat $policy.dns $policy.database $policy.redis $policy.outside $policy.further) }}
{{- end -}}

{{- /* Of a container that runs no sandboxes. */ -}}
{{- define "millwright.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- /* Of one that does. It has no right of root either: user namespaces give what sandboxes need. */ -}}
{{- define "millwright.sandboxes" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
procMount: {{ .Values.worker.sandbox.procMount }}
seccompProfile: {{ toJson .Values.worker.sandbox.seccompProfile }}
{{- with .Values.worker.sandbox.appArmorProfile }}
appArmorProfile: {{ toJson . }}
{{- end }}
{{- end -}}
