# What `cmake --install` puts beside the program and its codec modules: the man page and the
# completions, made at build time by the program itself from its operator descriptions.
set(made_dir ${PROJECT_BINARY_DIR}/share)
set(made_files "")
# Those of the component "tree" have another place or form in a package (cmake/Package.cmake).
function(impipe_made_by_program component file destination)
  add_custom_command(OUTPUT ${made_dir}/${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${made_dir}
    COMMAND $<TARGET_FILE:impipe> ${ARGN} > ${made_dir}/${file}
    DEPENDS impipe VERBATIM)
  install(FILES ${made_dir}/${file} DESTINATION ${destination} COMPONENT ${component})
  set(made_files ${made_files} ${made_dir}/${file} PARENT_SCOPE)
endfunction()

impipe_made_by_program(tree impipe.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
impipe_made_by_program(impipe impipe ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
                       completions bash)
impipe_made_by_program(tree _impipe ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
                       completions zsh)
impipe_made_by_program(impipe impipe.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
                       completions fish)
add_custom_target(impipe_share ALL DEPENDS ${made_files})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT tree)
# The Python package; it finds the library beside its folder, or where the system looks.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/impipe DESTINATION lib/python3/dist-packages
        COMPONENT python3-impipe PATTERN __pycache__ EXCLUDE)
