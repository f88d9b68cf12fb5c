# Writes OUTPUT, a C++ source that defines tutti::analyzer::kSourcesHash: a hash of every source
# and header (tests apart) of the folders ROOT/FOLDERS and of the files FILES. DEPFILE names
# them all, so that a change of any of them makes it anew.
set(listed ${FILES})
foreach(folder IN LISTS FOLDERS)
  file(GLOB found ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cc)
  list(FILTER found EXCLUDE REGEX "_test\\.cc$")
  list(APPEND listed ${found})
endforeach()
list(SORT listed)

set(hashes "")
set(dependencies "")
foreach(file IN LISTS listed)
  file(SHA256 ${file} hash)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${ROOT} OUTPUT_VARIABLE name)
  string(APPEND hashes "${name} ${hash}\n")
  string(APPEND dependencies " \\\n  ${file}")
endforeach()
string(SHA256 all "${hashes}")
string(SUBSTRING ${all} 0 16 short)

set(text "#include \"analyzer/sources_hash.h\"\n\nnamespace tutti::analyzer {\n\n")
string(APPEND text
  "const char* const kSourcesHash = \"${short}\";\n\n}  // namespace tutti::analyzer\n")
file(WRITE ${OUTPUT} "${text}")
file(WRITE ${DEPFILE} "${OUTPUT}:${dependencies}\n")
