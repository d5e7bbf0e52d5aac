/** `udg completion`: completion scripts for shells, derived from the settings of every command. */
import { Console, Effect } from "effect"
import * as Command from "./settings/Command.js"
import * as Reader from "./settings/Reader.js"
import * as Setting from "./settings/Setting.js"

const isOption = (setting: Setting.Setting<unknown>): boolean => !Setting.isArgument(setting)

const takesValue = ({ takes }: Setting.Setting<unknown>): boolean => takes !== "flag"

const takesWord = (setting: Setting.Setting<unknown>): boolean => isOption(setting) && takesValue(setting)

/** The choices in a placeholder such as yes|no; other placeholders have none. */
const choicesOf = ({ placeholder }: Setting.Setting<unknown>): ReadonlyArray<string> =>
  /^[a-z]+(?:\|[a-z]+)+$/.test(placeholder) ? placeholder.split("|") : []

/** The words that can complete an argument. */
const wordsOf = ({ actions, settings }: Command.Command, commands: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...actions,
  ...settings.filter(Setting.isArgument).flatMap((place) => (isCommand(place) ? commands : choicesOf(place))),
]

const isCommand = ({ placeholder }: Setting.Setting<unknown>): boolean => placeholder === "COMMAND"

const isFile = ({ placeholder }: Setting.Setting<unknown>): boolean => /^(?:FILE|DIR)$/.test(placeholder)

const everywhere = ["--help", "--version"]

const bashFiles = `compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word"))`

const bashChoices = (words: ReadonlyArray<string>): string =>
  words.length === 0 ? ":" : `COMPREPLY=($(compgen -W '${words.join(" ")}' -- "$word"))`

const bashValue = ({ name }: Command.Command, option: Setting.Setting<unknown>): string =>
  `    '${name} ${Setting.flagOf(option)}') ${isFile(option) ? bashFiles : bashChoices(choicesOf(option))}; return ;;`

const bashCommand = (command: Command.Command, others: ReadonlyArray<string>): string => {
  const { name, settings } = command
  const options = [...settings.filter(isOption).map(Setting.flagOf), ...everywhere]
  const places = settings.filter(Setting.isArgument)
  const words = name === "" ? others : wordsOf(command, others)
  // Arguments with fixed choices precede those that take files.
  const files = places.some(isFile) ? `; [[ $COMPREPLY ]] || { ${bashFiles}; }` : ""
  return `    '${name}') if [[ $word == -* ]]; then ${bashChoices(options)}; else ${bashChoices(words)}${files}; fi ;;`
}

const namesOf = (commands: ReadonlyArray<Command.Command>): ReadonlyArray<string> =>
  commands.map(({ name }) => name).filter((name) => name !== "")

const bash = (commands: ReadonlyArray<Command.Command>): string => {
  const names = namesOf(commands)
  return `# bash: source <(udg completion bash)
_udg() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=
  [[ $COMP_CWORD -gt 1 && \${COMP_WORDS[1]} != -* ]] && command=\${COMP_WORDS[1]}
  COMPREPLY=()
  case "$command $before" in
${commands.flatMap((each) => each.settings.filter(takesWord).map((option) => bashValue(each, option))).join("\n")}
  esac
  case "$command" in
${commands.map((each) => bashCommand(each, names)).join("\n")}
  esac
}
complete -F _udg udg`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Escapes brackets and colons, which have a meaning in zsh's `_arguments`. */
const zshText = (text: string): string => text.replaceAll(/[[\]:\\]/g, "\\$&")

const zshValue = (setting: Setting.Setting<unknown>): string => {
  const choices = choicesOf(setting)
  if (isCommand(setting)) return `:${zshText(setting.placeholder)}:_udg_commands`
  const action = isFile(setting) ? "_files" : choices.length > 0 ? `(${choices.join(" ")})` : " "
  return `:${zshText(setting.placeholder)}:${action}`
}

const zshSpecification = (setting: Setting.Setting<unknown>): string => {
  if (setting.takes === "argument") return quoted(zshValue(setting))
  if (setting.takes === "arguments") return quoted(`*${zshValue(setting)}`)
  const often = setting.takes === "values" ? "*" : ""
  const value = takesValue(setting) ? zshValue(setting) : ""
  return quoted(`${often}${Setting.flagOf(setting)}[${zshText(setting.about)}]${value}`)
}

const zshCommand = ({ name, actions, settings }: Command.Command): string =>
  [
    `    ${name === "" ? "''" : name}) _arguments`,
    ...(actions.length === 0 ? [] : [quoted(`:action:(${actions.join(" ")})`)]),
    ...settings.map(zshSpecification),
    `'--help[show help]' '--version[print the version]' ;;`,
  ].join(" ")

const zsh = (commands: ReadonlyArray<Command.Command>): string =>
  [
    "#compdef udg",
    "# zsh: source <(udg completion zsh)",
    "_udg_commands() {",
    "  local -a commands",
    `  commands=(${commands
      .filter(({ name }) => name !== "")
      .map(({ name, about }) => quoted(`${name}:${about}`))
      .join(" ")})`,
    "  _describe command commands",
    "}",
    "_udg() {",
    "  local command=",
    "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then _udg_commands; return; fi",
    "  if [[ $words[2] != -* ]]; then command=$words[2]; shift words; (( CURRENT-- )); fi",
    '  case "$command" in',
    ...commands.map(zshCommand),
    "  esac",
    "}",
    'if [[ $funcstack[1] == _udg ]]; then _udg "$@"; else compdef _udg udg; fi',
  ].join("\n")

const fishSetting =
  (where: string) =>
  (setting: Setting.Setting<unknown>): ReadonlyArray<string> => {
    const choices = choicesOf(setting)
    if (Setting.isArgument(setting)) {
      if (isFile(setting)) return [`complete -c udg -n ${where} -F`]
      return choices.length === 0 ? [] : [`complete -c udg -n ${where} -a ${quoted(choices.join(" "))}`]
    }
    const value = isFile(setting) ? " -r -F" : choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : " -x"
    const about = quoted(setting.about)
    return [`complete -c udg -n ${where} -l ${setting.name}${takesValue(setting) ? value : ""} -d ${about}`]
  }

const fishCommand = (command: Command.Command, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { name, about, settings, actions } = command
  if (name === "") return settings.flatMap(fishSetting("__fish_use_subcommand"))
  const where = quoted(`__fish_seen_subcommand_from ${name}`)
  const words = settings.some(isCommand) ? names : actions
  return [
    `complete -c udg -n __fish_use_subcommand -a ${name} -d ${quoted(about)}`,
    ...(words.length === 0 ? [] : [`complete -c udg -n ${where} -a ${quoted(words.join(" "))}`]),
    ...settings.flatMap(fishSetting(where)),
  ]
}

const fish = (commands: ReadonlyArray<Command.Command>): string =>
  [
    "# fish: udg completion fish | source",
    "complete -c udg -f",
    "complete -c udg -l help -s h -d 'show help'",
    "complete -c udg -n __fish_use_subcommand -l version -d 'print the version'",
    ...commands.flatMap((command) => fishCommand(command, namesOf(commands))),
  ].join("\n")

const scripts = { bash, zsh, fish }

const shell = Setting.argument("bash|zsh|fish", "the shell", Reader.choice("bash", "zsh", "fish"))

export const commandFor = (load: () => Promise<ReadonlyArray<Command.Command>>): Command.Command =>
  Command.make({
    name: "completion",
    about: "prints a completion script for your shell",
    settings: { shell },
    examples: [
      ["bash, in ~/.bashrc", "source <(udg completion bash)"],
      ["zsh, in ~/.zshrc after compinit", "source <(udg completion zsh)"],
      ["fish", "udg completion fish > ~/.config/fish/completions/udg.fish"],
    ],
    run: ({ shell }) => Effect.flatMap(Effect.promise(load), (commands) => Console.log(scripts[shell](commands))),
  })
